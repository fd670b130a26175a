"""A look at HTML as a browser reads it: what could run, and where links lead."""

from html.parser import HTMLParser

_VECTORS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<iframe src=javascript:alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "<body onload=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<math><mtext></mtext><mglyph><style><img src=x onerror=alert(1)>",
    "<base href=//evil.example>",
    "<link rel=stylesheet href=//evil.example>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<form action=//evil.example><button>x",
    "<object data=//evil.example>",
    "<style>@import '//evil.example'</style>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<template><script>alert(1)</script></template>",
    "<xmp><script>alert(1)</script>",
    "<marquee onstart=alert(1)>",
    "<video><source onerror=alert(1)>",
    " onmouseover=alert(1) x=",
    " autofocus onfocus=alert(1) ",
    "javascript:alert(1)",
    "{{ ''.__class__.__mro__ }}{% for x in [] %}",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
)
_BREAKS = ("", '">', "'>", "</title>", "</script>", "-->", "]]>", '"', "'", "</textarea></select>")
PAYLOADS = tuple(f"{lead}{vector}" for lead in _BREAKS for vector in _VECTORS)


class Document(HTMLParser):
    """The elements and the texts of a page. `faults` lists what must not be there."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.links: list[str] = []
        self.fields: dict[str, str] = {}
        self.faults: list[str] = []
        self._raw = ""
        self.feed(page)
        self.close()

    @property
    def text(self) -> str:
        return " ".join(self.texts)

    @property
    def prose(self) -> str:
        """The text as people read it, also where words are marked."""
        return "".join(self.texts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ALLOWED:
            self.faults.append(f"<{tag}>")
        self._raw = tag if tag in ("script", "style") else ""
        if tag == "input":
            given = dict(attrs)
            self.fields[given.get("name") or ""] = given.get("value") or ""
        for name, value in attrs:
            if name.startswith("on") or name in ("style", "srcdoc"):
                self.faults.append(f"{tag} {name}={value}")
            if name in ("href", "src", "action", "formaction"):
                self.links.append(value or "")
                if not (value or "").startswith(("/explore/", "#")):
                    self.faults.append(f"{tag} {name}={value}")

    def handle_endtag(self, tag: str) -> None:
        self._raw = ""

    def handle_data(self, data: str) -> None:
        if self._raw:
            self.faults.append(f"{self._raw}: {data}")
        self.texts.append(data)


ALLOWED = {
    "html", "head", "meta", "title", "link", "script", "body", "a", "header", "main", "nav", "p",
    "ul", "ol", "li", "form", "input", "label", "select", "option", "button", "h1", "h2", "h3",
    "section", "div", "span", "dl", "dt", "dd", "meter", "table", "thead", "tbody", "tr", "th",
    "td", "code", "q", "time", "svg", "rect", "g", "line", "circle", "text",
    "details", "summary", "textarea", "img", "polyline", "polygon", "ellipse",
    "mark", "pre", "fieldset", "legend", "strong", "datalist", "output", "defs", "marker", "path",
    "aside",
}  # fmt: skip
"""The elements that our templates use."""


class Forms(HTMLParser):
    """The posted forms of a page, each with its action and what its fields would send."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str]]] = []
        self._inside = False
        self._open = ""  # the name of the text area or of the list whose content is read
        self.feed(page)
        self.close()

    def find(self, action: str, place: int = 0) -> dict[str, str]:
        """Return the fields of a form by its action."""
        return [fields for name, fields in self.found if name == action][place]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form" and given.get("method") == "post":
            self.found.append((given.get("action", "").rpartition("/")[2], {}))
            self._inside = True
        elif tag in ("input", "textarea", "select", "option") and self._inside:
            fields, name = self.found[-1][1], given.get("name", "")
            if tag == "input" and (given.get("type") not in _CHOSEN or "checked" in given):
                fields[name] = given.get("value", "")
            elif tag == "option" and "selected" in given:
                self._open = f"={self._open.strip('=')}"
            elif tag in ("textarea", "select"):
                self._open = name
                fields.setdefault(name, "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False
        elif tag in ("textarea", "select"):
            self._open = ""
        elif tag == "option":
            self._open = self._open.strip("=")

    def handle_data(self, data: str) -> None:
        if self._open and (self._open[0] == "=" or self.lasttag == "textarea"):
            self.found[-1][1][self._open.strip("=")] += data


_CHOSEN = ("checkbox", "radio", "file")
