"""Secrets in conversations are masked, and ordinary texts stay as they are.

All secrets are made up, and are assembled here, so that scanners of repositories find none.
"""

import base64
import hashlib
import json
import random
import string
import uuid
from collections.abc import Callable, Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.pages import PAGES, ROOT
from textrawl.values.leaks import (
    SecretRefused,
    describe_secrets,
    find_secrets,
    guard_arguments,
    guard_text,
    mask_secrets,
)

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


class Maker(random.Random):
    """Made-up secrets, the same ones in each run."""

    def draw(self, length: int, letters: str = ALNUM) -> str:
        return "".join(self.choices(letters, k=length))

    def password(self) -> str:
        word = self.choice(["Sunny", "koala", "Anker", "winter", "Delta", "mango", "Tulpe"])
        mark = self.choice("!#%&+=?@^~-_")
        return self.choice(
            [
                f"{word}{mark}{self.randrange(10, 9999)}",
                f"{word}{self.randrange(100, 9999)}",
                f"{self.draw(5)}{mark}{self.draw(6)}",
                f"{self.draw(4, string.ascii_lowercase)}{mark}{self.randrange(99)}{self.draw(4)}",
            ]
        )

    def card(self) -> str:
        start, length = self.choice([("4", 16), ("53", 16), ("37", 15), ("6011", 16)])
        body = start + self.draw(length - len(start) - 1, string.digits)
        doubled = [int(d) * (2 - place % 2) for place, d in enumerate(reversed(body))]
        digits = body + str(-sum(sum(divmod(d, 10)) for d in doubled) % 10)
        if length == 15:
            return digits
        cut = self.choice(["", " ", "-"])
        return cut.join(digits[place : place + 4] for place in range(0, 16, 4))

    def jwt(self) -> str:
        parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": self.draw(8), "iat": 1_700_000_000}]
        coded = [base64.urlsafe_b64encode(json.dumps(p).encode()).decode() for p in parts]
        return ".".join(part.rstrip("=") for part in [*coded, self.draw(43)])

    def pem(self, kind: str) -> str:
        lines = "\n".join(self.draw(64, ALNUM + "+/") for _ in range(self.randrange(4, 20)))
        begin, end = (f"-----{word} {kind}PRIVATE" + " KEY-----" for word in ("BEGIN", "END"))
        return f"{begin}\n{lines}\n{end}"

    def slack(self) -> str:
        return f"xo{'xb'}-{self.draw(12, '123')}-{self.draw(12, '456')}-{self.draw(24)}"

    def basic(self) -> str:
        return base64.b64encode(self.draw(24).encode()).decode()

    def words(self) -> str:
        return " ".join(self.choices(["coral", "tiger", "lemon", "cloud"], k=4))


# The sentence around a secret, and how the secret is made. {} is the secret.
PLANTED: list[tuple[str, Callable[[Maker], str]]] = [
    ("I exported {} for the CI job", lambda m: "gh" + "p_" + m.draw(36)),
    ("use this one: {}", lambda m: "github" + "_pat_" + m.draw(22) + "_" + m.draw(59)),
    ("git clone https://oauth2:{}@git.example.net/a/b", lambda m: "gl" + "pat-" + m.draw(20)),
    ("the bot logs in with {}", Maker.slack),
    ("charge it with `{}`", lambda m: "sk" + "_live_" + m.draw(24)),
    ("AWS_ACCESS_KEY_ID={}", lambda m: "AK" + "IA" + m.draw(16, string.ascii_uppercase + "234567")),
    ("aws_secret_access_key = {}", lambda m: m.draw(40, ALNUM + "/+")),
    ("OPENAI_API_KEY={} python run.py", lambda m: "sk" + "-proj-" + m.draw(120)),
    ("client = Anthropic(api_key='{}')", lambda m: "sk" + "-ant-api03-" + m.draw(93) + "AA"),
    ("maps needs {} in the query", lambda m: "AI" + "za" + m.draw(35)),
    ("//packages.example.org/:_authToken={}", lambda m: "np" + "m_" + m.draw(36)),
    ("twine upload -u __token__ -p {}", lambda m: "py" + "pi-AgEIcHlwaS5vcmc" + m.draw(120)),
    ("login(token={})", lambda m: "'h" + "f_" + m.draw(34, string.ascii_letters) + "'"),
    ("mails go out with {}", lambda m: f"S{'G'}.{m.draw(22)}.{m.draw(43)}"),
    ("doctl auth init -t {}", lambda m: "do" + "p_v1_" + m.draw(64, HEX)),
    ("docker login -u me --password {}", lambda m: "dc" + "kr_pat_" + m.draw(27)),
    ("VAULT_TOKEN={}", lambda m: "hv" + "s." + m.draw(90)),
    ("the shop answers to {}", lambda m: "sh" + "pat_" + m.draw(32, HEX)),
    ("telegram bot: {}", lambda m: m.draw(10, "123456789") + ":A" + "A" + m.draw(33)),
    ("Authorization: Bearer {}", lambda m: m.draw(40)),
    ('curl -H "Authorization: Basic {}" localhost', Maker.basic),
    ("here is my session: {}", Maker.jwt),
    ("what is wrong with this key?\n{}", lambda m: m.pem("RSA ")),
    ("my ssh key\n{}\ndoes not work", lambda m: m.pem("OPENSSH ")),
    ("and the server's\n{}", lambda m: m.pem("EC ")),
    ("DATABASE_URL=postgresql://app:{}@db.internal:5432/prod", lambda m: m.draw(14)),
    ("connect with mongodb+srv://root:{}@cluster0.example.net", lambda m: m.draw(10)),
    ("redis://:{}@cache:6379/0", lambda m: m.draw(18)),
    ("my password is {}", Maker.password),
    ("My password for the router is {}.", Maker.password),
    ("password: {}", Maker.password),
    ("the wifi password at the cottage is {}, tell nobody", Maker.password),
    ("Das Passwort lautet {}", Maker.password),
    ("Passwort: {}", Maker.password),
    ("le mot de passe est {}", Maker.password),
    ("la contraseña es {}", Maker.password),
    ("パスワードは{}です", Maker.password),
    ('{{"user": "ben", "password": "{}"}}', Maker.password),
    ("DB_PASSWORD={}", Maker.password),
    ("smtp:\n  user: bob\n  password: {}\n  port: 587", Maker.password),
    ("export PGPASSWORD='{}'", Maker.password),
    ("Server=db;User Id=sa;Password={};Encrypt=yes", Maker.password),
    ("api_key = \"{}\"", lambda m: m.draw(32)),
    ("X-Api-Key: {}", lambda m: m.draw(32, HEX)),
    ("my api key is {}", lambda m: str(uuid.UUID(int=m.getrandbits(128), version=4))),
    ("client_secret: {}", lambda m: m.draw(40)),
    ("AccountName=a;AccountKey={};", lambda m: m.draw(86, ALNUM + "+/") + "=="),
    ("my card is {}, valid until 04/29", Maker.card),
    ("Kartennummer {}", Maker.card),
    ("curl -u admin:{} https://example.net/api", Maker.password),
    ("const token = `{}`;", lambda m: m.draw(48)),
    ("sshpass -p '{}' ssh me@host", Maker.password),
    ("the passphrase is \"{}\"", Maker.words),
]  # fmt: skip


def plant(maker: Maker) -> Iterator[tuple[str, list[str]]]:
    """50 conversations of ordinary lines, in each of which four secrets are hidden."""
    lines = ordinary_lines(maker, 2000)
    for place in range(50):
        turns, secrets = maker.sample(lines, 12), list[str]()
        for each in range(4):
            sentence, make = PLANTED[(4 * place + each) % len(PLANTED)]
            secrets.append(make(maker).strip("'"))
            turns.insert(maker.randrange(len(turns)), sentence.format(secrets[-1]))
        yield "\n\n".join(turns), secrets


def ordinary_lines(maker: Maker, number: int) -> list[str]:
    """Lines of pages and code, half of them about tokens, keys and passwords."""
    paths = [*PAGES, *sorted((ROOT / "textrawl").rglob("*.py"))]
    lines = {line.strip() for path in paths for line in path.read_text("utf-8").splitlines()}
    named = {line for line in lines if any(word in line.lower() for word in NAMES)}
    others = [line for line in lines - named if len(line) > 20]
    half = number // 2
    return maker.sample(sorted(named), half) + maker.sample(sorted(others), number - half)


NAMES = ("token", "key", "password", "secret", "credential", "://")
ORDINARY = (
    "the password must be at least 12 characters long",
    "I forgot my password again, so I used the reset link",
    "the password is on a note inside the fuse box",
    "password = os.environ['DB_PASSWORD']",
    'api_key = config["api_key"]',
    "password: <your password>",
    "API_KEY=your-api-key-here",
    "Authorization: Bearer $TOKEN",
    "secret: String,",
    "passwords are hashed with argon2id and never logged",
    "is the password still case-sensitive?",
    "token = await client.fetch_token(scope='read')",
    "the token budget is 8000, used 1350",
    "const { password, ...rest } = user;",
    "primary key: id, foreign key: user_id",
    "curl -u $USER:$PASS https://example.com",
    "postgres://postgres:postgres@localhost:5432/app",
)


def make_ids(maker: Maker) -> Iterator[str]:
    """Ids, hashes and numbers in code and in sentences."""
    while True:
        raw = maker.randbytes(32)
        yield f"commit {hashlib.sha1(raw).hexdigest()}"  # noqa: S324 - the form of a commit
        yield f"image: app@sha256:{hashlib.sha256(raw).hexdigest()}"
        yield f'"integrity": "sha512-{base64.b64encode(hashlib.sha512(raw).digest()).decode()}",'
        yield f"request {uuid.UUID(bytes=raw[:16], version=4)} failed after 30 s"
        yield f"ETag: {hashlib.md5(raw).hexdigest()}"  # noqa: S324 - the form of an ETag
        yield f'{{"id": "toolu_01{maker.draw(22)}", "type": "tool_use"}}'
        yield f"order {maker.randrange(10**11, 10**12)} left on 2026-11-0{maker.randrange(1, 9)}"
        yield f"ts={maker.randrange(17 * 10**17, 18 * 10**17)} level=info msg=started"
        yield f"call me at +49 {maker.randrange(150, 180)} {maker.randrange(10**6, 10**8)}"
        yield f"ISBN 978-3-16-{maker.randrange(10**5, 10**6)}-{maker.randrange(10)}"
        yield f"See https://example.com/{maker.draw(11)}/index.html?page={maker.randrange(99)}"
        yield f'"nextPageToken": "{maker.draw(24)}"'
        yield f"cache_key = hash_{maker.draw(8, HEX)}_v{maker.randrange(9)}"
        yield f'<img src="data:image/png;base64,{base64.b64encode(raw * 4).decode()}">'
        yield maker.choice(ORDINARY)


def test_secrets_of_conversations_are_masked_and_ordinary_texts_stay() -> None:
    maker = Maker(40)
    conversations = list(plant(maker))
    ids = make_ids(maker)
    ordinary = [*ordinary_lines(maker, 1000), *(next(ids) for _ in range(1000))]

    missed = [
        secret
        for text, secrets in conversations
        for masked in [mask_secrets(text).text]
        for secret in secrets
        if secret in masked
    ]
    taken = [(text, describe_secrets(found)) for text in ordinary if (found := find_secrets(text))]

    assert sum(len(secrets) for _, secrets in conversations) == 200
    assert len(missed) <= 200 * 0.03, missed
    assert len(taken) <= len(ordinary) * 0.01, taken


@given(st.lists(st.sampled_from(PLANTED)), st.integers(), st.text())
@example([], 0, f"my password is {'a' * 200}1!")  # of one long word
def test_a_masked_text_has_no_secret_and_all_else(
    planted: list[tuple[str, Callable[[Maker], str]]], seed: int, around: str
) -> None:
    maker = Maker(seed)
    text = "\n".join([around, *(form.format(make(maker)) for form, make in planted), around])

    masked = mask_secrets(text)
    kept, place = list[str](), 0
    for secret in masked.secrets:
        kept += text[place : secret.start], f"[masked {secret.kind}]"
        assert secret.line == text.count("\n", 0, secret.start) + 1
        place = secret.end

    assert masked.text == "".join([*kept, text[place:]])
    assert find_secrets(masked.text) == []


def test_modes_mask_refuse_and_allow() -> None:
    text = "Hello\nmy password is Sunny!42"

    assert guard_text(text, "mask").text == "Hello\nmy password is [masked password]"
    assert guard_text(text, "allow").text == text
    assert len(guard_text(text, "allow").secrets) == 1
    with pytest.raises(SecretRefused, match=r"password \(line 2\)"):
        guard_text(text, "refuse")
    assert guard_arguments({"facts": [{"observation": text}, 3]}, "mask") == (
        {"facts": [{"observation": "Hello\nmy password is [masked password]"}, 3]},
        ["password (masked)"],
    )
