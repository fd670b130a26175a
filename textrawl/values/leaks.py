"""Passwords, tokens, private keys and card numbers that a text holds by accident.

The patterns are our own, because texts of conversations differ from source code. Compared with 29
secrets in sentences (November 2026): kingfisher 1.5 finds 21, takes 3 s of a processor and 60 MB to
load; betterleaks 2.0 has 54 MB; detect-secrets 1.5 reads 0.3 MB/s and takes words for secrets.
None of them finds a password that a sentence names.

Forms of tokens: the documents of the services and the rules of gitleaks (MIT). Card numbers: the
lengths and beginnings of ISO/IEC 7812, and the checksum of Luhn.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, cast

from textrawl.errors import ArgumentInvalid
from textrawl.values.scanning import find_all
from textrawl.values.word_lists import SecretMode

SECRETS_DONE: dict[SecretMode, str] = {
    "mask": "were masked",
    "refuse": "were left out",
    "allow": "were stored as they are",
}


class Secret(NamedTuple):
    """A passage that looks like a secret: its kind, its line counted from 1, and its place."""

    kind: str
    line: int
    start: int
    end: int


class Masked(NamedTuple):
    """A text in which each secret is replaced by its kind, and the secrets of the former text."""

    text: str
    secrets: list[Secret]


class SecretRefused(ArgumentInvalid):
    """A text holds a secret, and TEXTRAWL_SECRETS is `refuse`."""

    title = "This looks like a secret"

    def __init__(self, secrets: Iterable[Secret]) -> None:
        super().__init__(f"{describe_secrets(secrets)}. Leave it out, or say where it is kept")


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets of a text in their order. They do not overlap."""
    found, end, line, counted = list[Secret](), 0, 1, 0
    for start, stop, kind in sorted(_find_spans(text)):
        if start < end:
            if stop > end and found:  # the longer of two passages that overlap
                found[-1] = found[-1]._replace(end=stop)
                end = stop
            continue
        line += text.count("\n", counted, start)
        found.append(Secret(kind, line, start, stop))
        counted, end = start, stop
    return found


def mask_secrets(text: str) -> Masked:
    """Return the text with `[masked KIND]` in place of each secret, and the secrets."""
    return guard_text(text, "mask")


def guard_text(text: str, mode: SecretMode) -> Masked:
    """Return the text to store, and the secrets that were found.

    Raises SecretRefused if the mode is `refuse` and the text has a secret.
    """
    secrets = find_secrets(text)
    if not secrets or mode == "allow":
        return Masked(text, secrets)
    if mode == "refuse":
        raise SecretRefused(secrets)
    parts, begin = list[str](), 0
    for secret in secrets:
        parts += text[begin : secret.start], f"[masked {secret.kind}]"
        begin = secret.end
    return Masked("".join([*parts, text[begin:]]), secrets)


def guard_arguments(values: dict[str, Any], mode: SecretMode) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments of a call to store, and the kinds of their secrets for its reply.

    A kind that was masked says so, such as "password (masked)", because the caller has to know the
    text that is stored. Raises SecretRefused if the mode is `refuse` and an argument has a secret.
    """
    kept, kinds = guard_fields(values, mode)
    if mode == "mask" and kinds:
        return _keep_places(values, kept), [f"{kind} (masked)" for kind in kinds]
    return values, kinds


def _keep_places(given: dict[str, Any], kept: dict[str, Any]) -> dict[str, Any]:
    """Return the kept arguments with the place of each item as it was given, to be found again."""
    places = {name: given[name] for name in ("namespace", "key") if name in given}
    if isinstance(given.get("items"), list):
        pairs = zip(given["items"], kept["items"], strict=True)
        whole = [_keep_places(*pair) if isinstance(pair[0], dict) else pair[1] for pair in pairs]
        places["items"] = whole
    return kept | places


def guard_fields(values: dict[str, Any], mode: SecretMode) -> tuple[dict[str, Any], list[str]]:
    """Return the fields to store, and the kinds of their secrets. Raises as `guard_arguments`."""
    found, kept = list[Secret](), dict[str, Any]()
    for name, value in values.items():
        kept[name] = _guard(value, mode, found)
    kinds = list(dict.fromkeys(one.kind for one in found)) if found else []
    return kept if mode == "mask" else values, kinds


def _guard(value: object, mode: SecretMode, found: list[Secret]) -> object:
    if isinstance(value, str):
        masked = guard_text(value, mode)
        found += masked.secrets
        return masked.text
    if isinstance(value, dict):
        named = cast("dict[str, object]", value)
        return {name: _guard(part, mode, found) for name, part in named.items()}
    if isinstance(value, list):
        return [_guard(part, mode, found) for part in cast("list[object]", value)]
    return value


def describe_secrets(secrets: Iterable[Secret]) -> str:
    """Return the secrets by kind and line, such as "password (line 3), AWS key (lines 4, 9)"."""
    lines: dict[str, list[int]] = {}
    for secret in secrets:
        lines.setdefault(secret.kind, []).append(secret.line)
    places = {kind: list(dict.fromkeys(found)) for kind, found in lines.items()}
    return ", ".join(
        f"{kind} (line{'s' * (len(found) > 1)} {', '.join(map(str, found))})"
        for kind, found in places.items()
    )


@cache
def _compile(pattern: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """Compile a pattern when a text first needs it. All of them take 50 ms."""
    return re.compile(pattern, flags)


def _find_spans(text: str) -> set[tuple[int, int, str]]:
    """Return the begin, the end and the kind of each passage. Passages can overlap."""
    spans = set[tuple[int, int, str]]()
    if next(find_all(_compile(_LONG), text), None):  # most texts have no long word, so no token
        spans.update(_find_tokens(text))
    for match in find_all(_compile(_DIGITS), text):
        if _is_card(match[0]):
            spans.add((*match.span(), "card number"))
    lowered = text.lower()
    if len(lowered) != len(text):  # such as İ
        lowered = text.translate(_LOWER)
    for form in _list_forms():
        for hint in form.hints:
            if hint in lowered:
                spans.update(form.find(text, lowered))
                break
    return spans


# Each token begins with letters that no word has. The kind is what a person calls the token.
_TOKENS = {
    "GitHub token": r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{40,}",
    "GitLab token": r"gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent|oas|ffct)-[\w.-]{16,}",
    "Slack token": r"xox[abeoprs](?:\.xox[bp])?-[\w-]{10,}|xapp-\d-[\w-]{20,}",
    "Stripe key": r"[sr]k_(?:live|test|prod)_\w{16,}|whsec_[\w+/]{24,}",
    "AWS key": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}|ABSK[A-Za-z0-9+/]{100,}",
    "API key": (
        r"sk-(?=[\w-]{0,200}\d)[\w-]{20,}|gsk_\w{40,}|xai-\w{60,}|pplx-\w{40,}|r8_\w{37,}|hf_[A-Za-z]{30,}"
        r"|nvapi-[\w-]{60,}|fw_\w{24,}|tvly-[\w-]{28,}|lsv2_[ps][kt]_\w{32,}|pcsk_\w{50,}"
        r"|AIza[\w-]{35}|key-[0-9a-f]{32}|[0-9a-f]{32}-us\d\d?|SK[0-9a-f]{32}|xkeysib-[\w-]{64,}"
        r"|SG\.[\w-]{16,80}\.[\w-]{16,}|PMAK-[\w-]{50,}|NRAK-[A-Z0-9]{27}|NRII-[\w-]{32}"
        r"|pk_[0-9]{6,}_[A-Z0-9]{32}|sq0(?:csp|atp|idp)-[\w-]{22,}|LTAI[A-Za-z0-9]{12,20}"
        r"|AGE-SECRET-KEY-1[A-Z0-9]{58}|phx_\w{40,}|API-[A-Z0-9]{25,}|rzp_(?:live|test)_\w{14}"
        r"|FLWSECK(?:_TEST)?-[\w-]{12,}|EZ[AT]K[A-Za-z0-9]{54}|re_[A-Za-z0-9]{6,}_[A-Za-z0-9]{20,}"
        r"|sb_secret_[\w-]{20,}|AQVN[\w-]{35,}|EAACEdEose0cBA\w+"
    ),
    "token": (
        r"npm_\w{36,}|pypi-[\w-]{50,}|rubygems_[0-9a-f]{48}|cio[A-Za-z0-9]{32}|do[opr]_v1_[0-9a-f]{64}"
        r"|dckr_[op]at_[\w-]{20,}|hv[bsr]\.[\w-]{20,}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"
        r"|dapi[0-9a-f]{32}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}|1//0[\w-]{30,}|\d{8,10}:AA[\w-]{33}"
        r"|[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,}|lin_(?:api|oauth)_\w{32,}|ntn_\w{40,}"
        r"|secret_[A-Za-z0-9]{43}|figd_[\w-]{40,}|gl(?:sa|c)_[\w+/=]{32,}|sbp_[0-9a-f]{40}"
        r"|pscale_(?:tkn|pw|oauth)_[\w.=-]{32,}|CFPAT-[\w-]{43}|sntry[su]_[\w+/=]{40,}"
        r"|dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}|AT(?:ATT3|CTT3|BB)[\w=.-]{24,}"
        r"|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}|pul-[0-9a-f]{40}"
        r"|CCIP(?:AT|RJ)_\w{20,}|bk[a-z]a_[0-9a-f]{40}|tskey-[a-z]+-[\w-]{16,}|ops_eyJ[\w-]{100,}"
        r"|HRKU-[\w-]{30,}|EAA[A-Za-z0-9]{90,}|IGQ[\w-]{90,}|fo1_[\w-]{40,}"
        r"|FlyV1 fm\d_[\w+/=,-]{80,}"
        r"|v1\.0-[0-9a-f]{24}-[0-9a-f]{146}|doo_v1_[0-9a-f]{64}|ddp_[A-Za-z0-9]{36}|trl_[0-9A-Za-z]{49}"
        r"|oy2[a-z0-9]{43}|AKCp[A-Za-z0-9]{69}"
    ),
    "web token": (
        r"eyJ[\w-]{8,500}\.(?:eyJ[\w-]{8,}(?:\.[\w-]{16,})?|[\w-]{16,}\.[\w-]{16,})"
    ),
}  # fmt: skip
_KINDS = (f"(?P<k{number}>{form})" for number, form in enumerate(_TOKENS.values()))
_TOKEN = rf"(?<![A-Za-z0-9])(?:{'|'.join(_KINDS)})"
_LONG = r"(?<![A-Za-z0-9])[A-Za-z0-9][\w.:/+-]{14,}|FlyV1 fm"


def _find_tokens(text: str) -> Iterator[tuple[int, int, str]]:
    for match in find_all(_compile(_TOKEN, 0), text):
        group = match.lastgroup
        if group and _is_no_example(match[0]) and len(set(match[0])) > _FEWEST:
            yield (*match.span(), [*_TOKENS][int(group[1:])])


_LOWER = {letter: letter + 32 for letter in range(ord("A"), ord("Z") + 1)}
_FEWEST = 8  # different characters of a token
_LONG_ENOUGH = 24  # characters of a value that can have a single digit
_LONGEST_WORD = 8  # characters of a part of a name, such as "user-token-v2"
_SHORTEST_WORDS = 3  # mean letters of the words of a name, such as "getUserId"
_CASED = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])"
_EXAMPLE = (
    r"^your|your[-_]|example|placeholder|(?:change|choose)[-_]?(?:me|it|this|one|a)|dummy|redacted|masked|^hidden"
    r"|x{4,}|\*{3,}|\.{3}|…|•|^[<\[]|^todo$|insert[-_]|^my[-_]|_here$|^(?:not|same)[-_]"
)
_CODE = r"^[$%@&*]\w|\$\{|\{\{|^\w+(?:\.\w+)*\(|^(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*$|::|->|^\d+/\d+$"
# Possessive (++), because a long word has many divisions into words.
_WORDS = (
    r"_?(?:[^\W\d_]++[-_./',:&\u2019]?)++|[\d.,:%/-]+"
    r"|(?:base|sha|md|aes|utf|rsa|argon|pbkdf|hs|rs|es|tls|oauth)[-_]?\d+\w*(?:[-_/][a-z0-9]+)*"
    r"|[a-z]+://\S*|(?:~?|\.{1,2})/[\w./~-]*|[\w-]+\.[a-z]{2,4}|1password|v\d[\w.-]*"
    r"|\d+(?:st|nd|rd|th|x|ms|s|m|h|d|kb|mb|gb|[-+][^\W\d]+|\+)?|[\w.+-]+@[\w-]+\.[\w.]+"
)
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_PHRASE = r"[a-z]{3,}(?:[-_. ][a-z]{3,}){3,}|\d{6,}"
_NO_PASSWORDS = (
    "password", "passwort", "passphrase", "required", "optional", "string", "boolean", "invalid",
    "incorrect", "missing", "undefined", "disabled", "enabled", "kennwort", "contraseña", "default",
    "unknown", "forgotten", "current", "postgres", "username", "account", "keyring", "environment",
    "null", "none", "true", "false", "text", "pass", "secret", "user", "root", "admin",
    "guest", "test",
)  # fmt: skip


def _is_no_example(value: str) -> bool:
    return not _compile(_EXAMPLE).search(value)


def _is_literal(value: str) -> bool:
    """Return whether a value is no example, expression or name of a setting."""
    return (
        _is_no_example(value)
        and not _compile(_CODE).search(value)
        and value.casefold() not in _NO_PASSWORDS
    )


def _is_password(value: str) -> bool:
    """Return whether a value is no word, number or path."""
    return _is_literal(value) and bool(
        not _compile(_WORDS).fullmatch(value)
        or _compile(_PHRASE).fullmatch(value)
        or _is_jumbled(value)
    )


def _is_quoted_password(value: str) -> bool:
    """Return whether a quoted value is a password, which can be a single word."""
    return _is_password(value) or (_is_literal(value) and value.isalpha() and value.isascii())


def _is_random(value: str) -> bool:
    """Return whether a value looks generated: letters and digits that form no words."""
    if _compile(_UUID).fullmatch(value):
        return True
    mixed = (
        len(part) >= _LONGEST_WORD and any(map(str.isdigit, part)) and any(map(str.isalpha, part))
        for part in re.split(r"[-_./:+=]", value)
    )
    digits = sum(map(str.isdigit, value))
    return (
        len(set(value)) > _FEWEST
        and _is_literal(value)
        and (_is_jumbled(value) or ((digits > 1 or len(value) > _LONG_ENOUGH) and any(mixed)))
    )


def _is_jumbled(value: str) -> bool:
    """Return whether the letters of a value change their case too often for words."""
    words = _compile(_CASED, 0).findall(value)
    letters = sum(map(len, words))
    return letters >= _LONGEST_WORD and letters < _SHORTEST_WORDS * len(words)


def _is_card(value: str) -> bool:
    """Return whether digits are a card number: beginning, length, and checksum."""
    digits = re.sub(r"\D", "", value)
    sums = [sum(divmod(int(d) * (1 + index % 2), 10)) for index, d in enumerate(reversed(digits))]
    return bool(_compile(_CARD).fullmatch(digits)) and sum(sums) % 10 == 0 and len(set(digits)) > 1


_DIGITS = r"(?<![\w.-])\d{4}(?:[ -]?\d){10,15}(?![\w-])"
_CARD = (
    r"4\d{15}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[689]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17}"
)

_SUFFIX = r"(?:[-_ ]?(?:prod(?:uction)?|dev|live|test|staging|value|v?\d))?(?![A-Za-zäöüß])"
_SEPARATOR = r"[\"'`*\\]{0,4}\s{0,3}(?:=>|:=|=|:|\uff1a|\||>)\s{0,3}[*]{0,2}"
_WORDS_BETWEEN = r"[^\n.:;=!?]{0,40}?"
_IS = (
    r"(?:\s(?:is|ist|lautet|war|was|est|es|é|è|to)\b|は|[:=\uff1a])\s{0,2}"
    r"(?:(?:now|still|just|jetzt|currently)\s)?[*]{0,2}"
)
_NEAR = (  # in lower case, which is faster than to ignore the case
    r"(?=[\s\"'`)*はの])(?![^\n]{0,40}?(?:hash|polic|length|manager|reset|field|file|minim|maxim"
    r"|rule|strength|check|algorithm|error|version|expir|prompt|count|limit|budget))"
    + _WORDS_BETWEEN + _IS
)  # fmt: skip
_QUOTED = r"\\?(?P<q>[\"'`“„«「])(?P<value>[^\"'`”“»」\n\\]{{{},200}})\\?[\"'`”“»」]"
_BARE = r"\\?[\"'`]?(?P<value>[^\s\"'`,;<>()\[\]{{}}|\\]{{{},300}}(?<![.!?:,。、]))"
_FAR = _WORDS_BETWEEN + _IS
_CALLS = ("(", "[")  # a value that is called or indexed is an expression
_USER = r"[\w.@+-]{1,80}"


class _Form(NamedTuple):
    """A name of a secret, and the forms of the text after it.

    `hints` are words of which each place is looked at, in lower case. There, `name` must match.
    `before` must not match the end of the text before. `value` is the part to mask.
    """

    kind: str
    hints: Sequence[str]
    name: str
    follows: Sequence[tuple[str, Callable[[str], object]]]
    before: str | None = None

    def find(self, text: str, lowered: str) -> Iterator[tuple[int, int, str]]:
        """Yield the place and the kind of each secret."""
        for hint in self.hints:
            begin = lowered.find(hint)
            while begin >= 0:
                begin += len(hint)
                if found := self._find_at(text, lowered, begin - len(hint)):
                    yield (*found, self.kind)
                    begin = max(begin, found[1])
                begin = lowered.find(hint, begin)

    def _find_at(self, text: str, lowered: str, begin: int) -> tuple[int, int] | None:
        name = _compile(self.name).match(text, begin)
        if not name or (
            self.before and _compile(f"(?:{self.before})$").search(text, max(0, begin - 24), begin)
        ):
            return None
        near = None
        for pattern, check in self.follows:
            if pattern.startswith(_FAR):
                near = near or [_compile(_NEAR, 0).match(lowered, name.end())]
                if near == [None]:
                    continue
            match = _compile(pattern).match(text, name.end())
            if (
                match
                and check(match["value"])
                and text[match.end() : match.end() + 1] not in _CALLS
            ):
                start = begin if self.kind == "private key" else match.start("value")
                return start, match.end("value")
        return None


@cache
def _list_forms() -> list[_Form]:
    return [*_list_passwords(), *_list_keys(), *_list_others()]


def _make(
    kind: str,
    hints: str,
    name: str,
    *follows: tuple[str, Callable[[str], object]],
    before: str | None = None,
) -> _Form:
    return _Form(kind, hints.split("|"), name, follows, before)


def _list_passwords() -> Iterator[_Form]:
    quoted, bare = _QUOTED.format, _BARE.format
    names = (
        "password|passwort|passcode|passphrase|passwd|pwd|kennwort|mot de passe|contraseña"
        "|contrasena|senha|wachtwoord|lösenord|hasło|пароль|パスワード|密码|비밀번호"
    )
    follows = (
        (_SEPARATOR + quoted(4), _is_quoted_password),
        (_FAR + quoted(4), _is_quoted_password),
        (_SEPARATOR + bare(5), _is_password),
        (_FAR + bare(5), _is_password),
        (rf"(?<=-password)\s+{bare(5)}", _is_password),
        (rf"\s{bare(8)}", _is_random),
    )
    yield _make("password", names, f"(?:{names}){_SUFFIX}", *follows)
    yield _make("password", "pass|pw|mdp", r"(?<![A-Za-z])(?:pass(?=\s?[:=])|pw|mdp)\b", *follows)
    # The name of a user and a password in one word.
    address = r"[^\s:/@\"'<>]{0,80}:(?P<value>[^\s@/\"'<>{}\[\]]{3,200})@[\w.-]"
    yield _make("password", "://", "://", (address, _is_literal))
    command = r"sshpass\s+-p\s*|mysql\w*\b[^\n]{0,80}?\s-p(?=\S)|redis-cli\b[^\n]{0,60}?\s-a\s+"
    yield _make("password", "sshpass|mysql|redis-cli", command, (bare(4), _is_literal))
    option = rf"[^\n]{{0,200}}?\s(?:-u|--user)[ =]?[\"']?{_USER}:{bare(4)}"
    yield _make("password", "curl", r"curl\b", (option, _is_literal))
    pair = (
        rf"[^\n:=]{{0,20}}(?:[:=]|is)?\s{{1,3}}{_USER}"
        rf"(?:\s?/\s|:|\s\|\s|,?\s(?:and|und|with)\s){bare(6)}"
    )
    yield _make("password", "cred|login", r"(?:creds|credentials|logins?)\b", (pair, _is_password))


def _list_keys() -> Iterator[_Form]:
    quoted, bare = _QUOTED.format, _BARE.format
    follows = (
        (_SEPARATOR + quoted(12), _is_random),
        (_SEPARATOR + bare(12), _is_random),
        (_FAR + quoted(16), _is_random),
        (_FAR + bare(16), _is_random),
        (rf"\s{bare(20)}", _is_random),
    )
    kinds = (
        "api|access|private|auth|account|encryption|signing|master|license|storage|service|deploy"
        "|consumer|app|integration|secret"
    )
    yield _make("key", kinds, rf"(?:{kinds})[-_ ]?(?:access[-_ ]?)?key{_SUFFIX}", *follows)
    yield _make("key", "secret", f"secret{_SUFFIX}", *follows)
    pages = "(?:page|next|sync|ation|cursor)[-_ ]?"
    yield _make("token", "token", f"token{_SUFFIX}", *follows, before=pages)
    yield _make("token", "bearer|basic", "(?:bearer|basic)", (rf"\s{{1,3}}{bare(12)}", _is_random))
    yield _make("token", "cookie:", "cookie:", (rf"[^\n=]{{1,40}}={bare(16)}", _is_random))
    query = r"(?P<value>[\w%/+=-]{20,300})"
    yield _make("key", "sig=|signature=|key=", r"\w+=", (query, _is_random), before=r"[^?&-]")


def _list_others() -> Iterator[_Form]:
    block = r"(?P<value>(?s:(?:(?!-----).){0,20000})(?:-----END [A-Z0-9 ]{0,40}-----)?)"
    begin = r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    yield _make("private key", "-----begin ", begin, (block, bool))
    putty = r"(?P<value>(?:\s+[A-Za-z0-9+/=]{20,})+)"
    yield _make("private key", "private-lines:", r"private-lines: \d+", (putty, bool))
    words = r"[^\n:]{0,30}(?::|\bis)\s{0,3}[\"'`]?(?P<value>(?:[a-z]{3,8}\s){11,23}[a-z]{3,8})"
    phrase = r"(?:seed|recovery|mnemonic)[- ](?:phrase|words)"
    yield _make("key", "seed|recovery|mnemonic", phrase, (words, bool))
    pin = r"[^\n.;!?]{0,30}?(?:\bis|\bist|:|=|\bcode)\s{1,2}(?P<value>\d{4,8})(?!\d)"
    yield _make("PIN", "pin", r"(?-i:(?<![A-Za-z])PIN\b)", (pin, bool))
    code = r"(?:\scode)?(?:\sis|:|=)?\s{0,2}(?P<value>\d{3,4})(?!\d)"
    yield _make("card number", "cvv|cvc", r"(?<!\w)cv[vc]2?\b", (code, bool))
    hook = r"(?P<value>T\w+/B\w+/\w{16,})"
    yield _make("token", "hooks.slack.com/services/", r"hooks\.slack\.com/services/", (hook, bool))
    hook = r"/\d+/(?P<value>[\w-]{50,})"
    yield _make("token", "/api/webhooks/", "/api/webhooks", (hook, bool))
