"""Requests of signed-in people, each with its principal, as the database knows it now."""

import secrets
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus
from typing import Any, LiteralString, TypeVar

from markupsafe import escape
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from pydantic_core import to_json
from starlette.background import BackgroundTasks
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from textrawl import __version__, errors
from textrawl.access.principal import Caller, Principal, keep_caller
from textrawl.access.request import find_principal, find_request_id
from textrawl.explorer.arguments import read_number
from textrawl.explorer.cookies import SESSION, find_page, find_way_back, read_theme
from textrawl.explorer.forms import (
    Form,
    FormRefused,
    OwnerNeeded,
    SentTwice,
    SignInRefused,
    TooManyFailures,
    check_token,
    close,
    mask,
    read_files,
    read_form,
)
from textrawl.explorer.rendering import render, write_link
from textrawl.explorer.site import ROOT, BrowserSession, Notice, NoticePart, Record, Site
from textrawl.memory.store import StoreCall
from textrawl.server.http.authentication import describe_principal
from textrawl.values.tables import write_table
from textrawl.values.text import PROMPT_LENGTH, count_cleaned

_CHOSEN = ("name", "also", "keep", "fact", "space")  # fields of a form that choose what it is about
_PASSING = ("part", "back", "draft", "as")  # parameters that do not choose what a page shows
_ONE = ("name", "id", "entry", "file", "snapshot", "source", "actor", "draft")
_TABLES = {"csv": "text/csv", "json": "application/json"}

Answer = TypeVar("Answer")
Row = TypeVar("Row")

_LAST = 1_000_000  # rows before a page
_FIRST_SPACE = "default"  # a migration makes it
CLIENT = f"textrawl explorer {__version__}"

_STATUS: dict[type[errors.TextrawlError], int] = {
    errors.ArgumentInvalid: 400,
    errors.EntityNotFound: 404,
    errors.ItemNotFound: 404,
    errors.NotAuthenticated: 401,
    SignInRefused: 401,
    FormRefused: 403,
    OwnerNeeded: 403,
    SentTwice: 409,
    errors.ScopeMissing: 403,
    errors.ReadOnly: 403,
    errors.SpaceNotFound: 404,
    errors.EncryptionKeyUnusable: 409,
    errors.NothingDeleted: 404,
    TooManyFailures: 429,
    errors.ServerBusy: 503,
    errors.IssuerUnavailable: 503,
    errors.DatabaseUnavailable: 503,
}


@dataclass(frozen=True)
class PageRequest:
    """A request of a signed-in person. `form` has the fields of a posted form, `files` its files.

    `after` has the tasks that run after the response. If `again` is true, a page shows the form
    once more, with what was typed into it and with the reason in `refused`, if there is one.
    """

    site: Site
    request: Request
    session: BrowserSession
    principal: Principal
    caller: Caller
    form: Form = field(default_factory=dict[str, str])
    files: Sequence[UploadFile] = ()
    after: BackgroundTasks = field(default_factory=BackgroundTasks)
    again: bool = False
    refused: errors.TextrawlError | None = None

    @property
    def store_call(self) -> StoreCall:
        """The store and the caller, for operations."""
        return StoreCall(self.site.store, self.caller)

    @property
    def given(self) -> Mapping[str, str]:
        """The fields of the form, or the parameters of the address if there is no form."""
        posted = self.again or self.request.method == "POST"
        return self.form if posted else self.request.query_params

    def read(self, parameter: str) -> str:
        """Return a field of the form, or a parameter of the address, or an empty text."""
        return self.given.get(parameter, "")

    def read_all(self, parameter: str) -> list[str]:
        """Return all values of a parameter of the address that are not empty.

        A form has them as one text, in a field that can have the plural as its name.
        """
        if self.again:
            return (self.read(f"{parameter}s") or self.read(parameter)).split()
        return [value for value in self.request.query_params.getlist(parameter) if value]

    def read_skip(self) -> int:
        """Return how many rows are on the pages before the one that is asked for."""
        return read_number(self.read("skip"), least=0, most=_LAST, default=0)

    async def call(
        self, function: LiteralString, row: type[Row], /, **arguments: object
    ) -> list[Row]:
        """Return the rows of a SQL function that reads the spaces of this visit."""
        return await self.site.store.call(function, row, **arguments, **self.caller.reading)

    async def call_anywhere(
        self, function: LiteralString, row: type[Row], /, **arguments: object
    ) -> list[Row]:
        """Return the rows of a SQL function that finds the spaces by the credential."""
        credential = self.principal.credential
        return await self.site.store.call(function, row, credential=credential, **arguments)

    def show(self, template: str, values: Mapping[str, Any], status: int = 200) -> HTMLResponse:
        """Return a page made of a template."""
        response = render(template, {**self._describe(), **values}, status)
        response.background = self.after
        return response

    def show_list(
        self, template: str, values: Mapping[str, Any], rows: Sequence[Any], columns: str
    ) -> Response:
        """Return a page with a list, or with `as` the columns of its rows as CSV or JSON."""
        names = columns.split()
        table = [[getattr(row, name) for name in names] for row in rows]
        lines = [dict(zip(names, each, strict=True)) for each in table]
        return self.show_table(template, values, [names, *table], lines)

    def show_table(
        self, template: str, values: Mapping[str, Any], table: Sequence[Any], lines: object
    ) -> Response:
        """Return a page with a table, or with `as` the table as CSV, or its lines as JSON."""
        if (kind := self.read("as")) not in _TABLES:
            tables = {kind: self.link_here(**{"as": kind}) for kind in _TABLES}
            return self.show(template, {**values, "tables": tables})
        written = lines if isinstance(lines, str) else to_json(lines)
        text = written if kind == "json" else write_table(table)
        return Response(text, media_type=_TABLES[kind])

    async def show_missing(self, name: str) -> Response:
        """Return the page for a name that no entity has, with similar names."""
        similar = await self.site.memory.suggest_names(name, self.caller)
        return self.show("missing.html", {"name": name, "similar": similar}, 404)

    async def find_places(self, name: str) -> Sequence[Record]:
        """Return the spaces of this visit with an entity of this name, the home space first."""
        return await self.call("entity_spaces", Record, entity=name)

    def pin(self, space: str) -> "PageRequest":
        """Return the same visit in only one space. Raises SpaceNotFound."""
        principal = self.principal.pin(space)
        return replace(self, principal=principal, caller=replace(self.caller, principal=principal))

    async def remember(
        self,
        question: Hashable,
        make: Callable[[], Awaitable[Answer]],
        takes_long: Callable[[Answer], bool] = lambda _: False,
    ) -> Answer:
        """Return the answer to a question of this person. It is made again only after a write.

        If that takes long, return the previous answer, and make the new one after the response.
        """
        # Nobody gets the answer of somebody with other rights.
        spaces = tuple((space.id, tuple(space.scopes)) for space in self.principal.readable)
        key = self.principal.credential, spaces, question
        state = repr(await self.site.store.database.call("write_state", str))
        return await self.site.answers.find_soon(key, state, make, self.after, takes_long)

    def report(
        self,
        text: str,
        space: str = "",
        *,
        entity: str = "",
        default: str = "",
        parts: Sequence[NoticePart] = (),
    ) -> Response:
        """Return to the page where the form was, which then says what the form changed.

        `default` is where to go if the form names no page: it is the page of the entity, or home.
        """
        return self.tell(replace(self.note(text, space, entity), parts=parts), default)

    def note(self, text: str, space: str = "", entity: str = "") -> Notice:
        """Return a notice with a button that undoes what this request wrote in `space`.

        Without a space there is no button: give none if nothing was written.
        """
        undo = {"call": self.caller.request, "space": space}
        page = "undo-change" if space else ""
        return Notice(text, entity, space or self.read("space"), page, undo)

    def tell(self, notice: Notice, default: str = "") -> Response:
        """Return to the page where the form was, with a notice."""
        if count_cleaned(dict(self.form)):
            notice = replace(notice, text=f"{notice.text} Hidden characters were left out.")
        self.site.notices.keep(self.session.form_token, notice)
        named = notice.entity and write_link("entity", name=notice.entity, space=notice.space)
        target = find_page(self.form.get("back", "")) or default or named
        return RedirectResponse(target or write_link(""), 303)

    def allows(self, scope: str) -> bool:
        """Return whether the person has a scope in any space."""
        return any(scope in space.scopes for space in self.principal.spaces)

    def require_writable(self) -> None:
        """Raise ReadOnly if the server changes nothing."""
        errors.require_writable(self.site.settings.read_only)

    def require_confirmation(self) -> None:
        """Raise ArgumentInvalid unless the form is the confirmation of the person."""
        if not self.form.get("confirmed"):
            raise errors.ArgumentInvalid("Confirm what will change", title="Nothing was changed")

    def require_space(self) -> str:
        """Return the name of the only space of this visit. Raises ArgumentInvalid."""
        space = self.principal.home_space
        if space is None or not self.principal.pinned:
            raise errors.ArgumentInvalid("Choose a space", title="No space is chosen")
        return space.name

    @property
    def graphs(self) -> list[str] | None:
        """The names of the only graphs that the person can reach, or None for all graphs."""
        return self.principal.find_graphs(self.site.settings.graphs)

    @property
    def administered(self) -> list[str]:
        """The names of the spaces of this visit that the person administers."""
        return [space.name for space in self.principal.spaces if "admin" in space.scopes]

    def find_spaces(self, scope: str) -> list[str]:
        """Return the names of the spaces with facts that the person can read and use so."""
        if self.site.settings.read_only:
            return []
        return [space.name for space in self.principal.readable if scope in space.scopes]

    def _find_targets(self, scope: str = "write") -> list[str]:
        """Return the names of all spaces with facts that the person can use so, also unread."""
        if self.site.settings.read_only:
            return []
        spaces = (find_principal(self.request) or self.principal).spaces
        return [each.name for each in spaces if scope in each.scopes and each.tier is None]

    def _find_address(self) -> str:
        """Return the address of this page, or an empty text after a form."""
        return find_page(self.link_here()) or "" if self.request.method == "GET" else ""

    def link_here(self, /, **changed: object) -> str:
        """Return the address of this page with some other parameters. Empty ones are left out."""
        given: dict[str, object] = {name: self.form.get(name) for name in _CHOSEN if self.again}
        given |= {
            name: values[0]
            if len(values := self.request.query_params.getlist(name)) == 1
            else values
            for name in self.request.query_params
            if name not in _PASSING
        }
        return write_link(_name_page(self.request.url.path), **given | changed)

    def link_space(self, space: str) -> str:
        """Return the address of this page in a space, or of home if the page is about one thing."""
        if self._is_about_one:
            return write_link("home", space=space)
        return self.link_here(space=space, skip="")

    @property
    def _is_about_one(self) -> bool:
        """True if the page is about one thing of a space, which other spaces do not have."""
        facts = [space.name for space in self.principal.readable]
        elsewhere = self.request.method != "GET" or self.read("space") not in ("", *facts)
        return elsewhere or any(map(self.read, _ONE))

    def _fill(self, name: str, default: object = "") -> object:
        """Return what was typed into a field of a form that is shown again, or the default."""
        return escape(self.form.get(name, "")) if self.again else default

    def _describe(self) -> Mapping[str, Any]:
        home, everywhere = self.principal.home_space, find_principal(self.request) or self.principal
        return {
            "visitor": self.principal.actor,
            "form_token": mask(self.session.form_token),
            "spaces": [space.name for space in self.principal.readable],
            "all_spaces": [space.name for space in everywhere.readable],
            "kept": "" if self._is_about_one else self.read("space"),
            "link_space": self.link_space,
            "writable": self.find_spaces("write"),
            "forgettable": self.find_spaces("forget"),
            "space": self.read("space"),
            "targets": self._find_targets(),
            "reviewed": self.find_spaces("review"),
            "administers": self.allows("admin"),
            "administered": self.administered,
            "proposable": self._find_targets("propose"),
            "query_length": PROMPT_LENGTH,
            "path": self.request.url.path,
            "here": self._find_address(),
            "link_here": self.link_here,
            "back": find_page(self.read("back")) or "",
            "frame": "part.html" if self.read("part") else "page.html",
            "take_notices": partial(self.site.notices.take, self.session.form_token),
            "cleaned": count_cleaned(dict(self.form)),
            "typed": self._fill,
            "again": self.again,
            "refused": self.refused,
            "theme": read_theme(self.request),
            # The name of the home space, if somebody named it.
            "memory": home.name if home is not None and home.name != _FIRST_SPACE else "",
            "scopes_held": {scope for space in self.principal.spaces for scope in space.scopes},
        }


def turn(skip: int, page: int, total: int) -> dict[str, int | None]:
    """Return how many rows are before the pages beside this one, or None where there is no page."""
    return {
        "total": total,
        "before": max(skip - page, 0) if skip else None,
        "after": skip + page if skip + page < total else None,
    }


Page = Callable[[PageRequest], Awaitable[Response]]


class Visitors:
    """Finds the principal of a session by its cookie, for guards and pages.

    Each request looks up the credential again, so a revoked or expired token ends its sessions.
    """

    def __init__(self, app: ASGIApp, *, site: Site) -> None:
        self._app = app
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, with the session in its scope if there is one."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        try:
            principal = await self._find(request)
        except errors.TextrawlError as error:
            await show_error(request, error)(scope, receive, send)
            return
        if principal is not None:
            scope["user"] = AuthenticatedUser(describe_principal(principal))
        await self._app(scope, receive, send)

    async def _find(self, request: Request) -> Principal | None:
        identity = SESSION.read(request)
        session = self._site.sessions.find(identity) if identity else None
        if identity is None or session is None:
            return None
        principal = await self._site.directory.find(session.credential)
        if principal is None:
            self._site.sessions.end(identity)
            return None
        request.scope["session"] = session
        settings = self._site.settings
        return principal.restrict(settings.graphs, settings.space)


Endpoint = Callable[[Request], Awaitable[Response]]


def require_read(page: Page) -> Page:
    """Return `page` for people who can read."""

    async def show(visit: PageRequest) -> Response:
        visit.principal.require("read")
        return await page(visit)

    return show


def build_page(site: Site, page: Page) -> Endpoint:
    """Return an endpoint that shows `page` to a signed-in person."""

    async def answer(request: Request) -> Response:
        form = site.drafts.find(request.query_params.get("draft", ""))
        request.scope["form"] = form
        visit = _open(site, request, form)
        if visit is None:
            query = request.url.query
            target = _name_page(request.url.path)
            return _ask_to_sign_in(request, f"{target}?{query}" if query else target)
        with keep_caller(visit.caller):
            return await page(replace(visit, again=bool(form)))

    return answer


def build_action(
    site: Site,
    action: Page,
    show: Page | None = None,
    *,
    with_files: bool = False,
    confirmed: bool = True,
) -> Endpoint:
    """Return an endpoint that does what a form of a signed-in person asks for.

    `show` is the page with the form: it shows a form again that is refused, or that comes after the
    end of a session. Only an action that changes no memory, or asks once more, is not `confirmed`
    by the form.
    """
    act = partial(_act, action, confirmed=confirmed)

    async def answer(request: Request) -> Response:
        visit = _open(site, request)
        if visit is None and with_files:  # nobody can put files back into a form
            return _ask_to_sign_in(request, _name_page(write_link("documents")))
        form, files = await read_files(request) if with_files else (await read_form(request), ())
        request.scope["form"] = form
        try:
            if visit is None:
                response = _keep_draft(site, request, form, kept=show is not None)
            else:
                response = await _try(replace(visit, form=form, files=files), act, show)
        finally:
            await close(files)
        if form.get("part") and response.status_code == HTTPStatus.SEE_OTHER:
            response.status_code = HTTPStatus.CREATED  # a script can read its location
        return response

    return answer


async def _act(action: Page, visit: PageRequest, *, confirmed: bool) -> Response:
    if confirmed:
        visit.require_writable()
        visit.require_confirmation()
    response = await action(visit)
    visit.site.answers.drop(visit.principal.credential)
    return response


async def _try(visit: PageRequest, act: Page, show: Page | None) -> Response:
    """Return the answer to a form. If it is refused, return its page, with what was typed."""
    try:
        check_token(visit.form, visit.session.form_token)
        space = visit.form.get("space", "")
        visit = visit.pin(space) if space else visit
        with keep_caller(visit.caller):
            return await act(visit)
    except errors.TextrawlError as error:
        refusal = error
    if show is None:
        raise refusal
    try:
        with keep_caller(visit.caller):
            page = await show(replace(visit, again=True, refused=refusal))
    except errors.TextrawlError:
        raise refusal from None  # the page of the error has what was typed too
    page.status_code = _find_status(refusal)
    return page


def _keep_draft(site: Site, request: Request, form: Form, *, kept: bool) -> Response:
    """Ask to sign in, and lead from there to the page of the form, with what was typed."""
    back = find_page(form.get("back", "")) or write_link("home")
    fields = {name: text for name, text in form.items() if name not in ("form_token", "part")}
    page = _name_page(request.url.path)
    wanted = f"{page}?draft={site.drafts.keep(fields)}" if kept else _name_page(back)
    return _ask_to_sign_in(request, wanted)


def _open(site: Site, request: Request, form: Form | None = None) -> PageRequest | None:
    """Return the visit, restricted to the space that the address or the form names, or None.

    Raises SpaceNotFound.
    """
    visit = _recognise(site, request)
    if visit is None:
        return None
    space = (form or request.query_params).get("space", "")
    return replace(visit.pin(space) if space else visit, form=form or {})


def _recognise(site: Site, request: Request) -> PageRequest | None:
    """Return the visit of a signed-in person, or None."""
    principal, session = find_principal(request), request.scope.get("session")
    if principal is None or session is None:
        return None
    caller = Caller(
        principal,
        CLIENT,
        "explorer",
        # The client can choose the id of a request, but an undo names a call by its id.
        f"{find_request_id(request)}.{secrets.token_hex(8)}".lstrip("."),
        sharing=site.lookup is not None,
    )
    return PageRequest(site, request, session, principal, caller)


def _name_page(address: str) -> str:
    """Return an address of a page without what all pages have."""
    return address.partition(ROOT)[2].strip("/")


def _ask_to_sign_in(request: Request, wanted: str) -> Response:
    response = RedirectResponse(write_link("sign-in", next=wanted), 303)
    # A link of another site comes without the Strict cookie, and must not end the session.
    if SESSION.read(request):
        SESSION.delete(request, response)
    return response


def show_error(request: Request, error: errors.TextrawlError, site: Site | None = None) -> Response:
    """Return the page of an error, with what to do next."""
    return show_failure(request, site, error.title, error.fix, _find_status(error))


def _find_status(error: errors.TextrawlError) -> int:
    kinds = (kind for kind in type(error).__mro__ if kind in _STATUS)
    return next((_STATUS[kind] for kind in kinds), 500)


_WRITTEN = ("name", "text", "reason", "relation", "other", "alias", "new_name", "actor")
"""Fields of forms for which somebody writes a text."""


def show_failure(
    request: Request, site: Site | None, title: str, fix: str, status: int
) -> Response:
    """Return a page with a way back, and with the texts of a form that can be shown nowhere else.

    Signed-in people keep their navigation.
    """
    form: Form = request.scope.get("form") or {}
    written = [form[name] for name in _WRITTEN if form.get(name)]
    values = {"title": title, "fix": fix, "back": find_way_back(request), "written": written}
    visit = _recognise(site, request) if site else None
    if visit is None:
        return render("error.html", {**values, "frame": "layout.html"}, status)
    return visit.show("error.html", {**values, "frame": "page.html"}, status)
