"""Pages are light on the wire, and their sizes tell nothing to other sites."""

import pytest

from tests.explorer.visiting import Place

pytestmark = pytest.mark.anyio


async def test_pages_and_files_are_compressed_unless_another_site_asks(shared_place: Place) -> None:
    async with shared_place.browse("reader") as browser:
        own = await browser.get("search")
        style = own.text.partition('rel="stylesheet" href="')[2].partition('"')[0]
        file = await browser.http.get(f"{browser.root}{style}")
        foreign = {
            site: await browser.http.get(
                f"{browser.root}/explore/search", headers={"sec-fetch-site": site}
            )
            for site in ("cross-site", "same-site", "anything")
        }
        plain = await browser.http.get(f"{browser.root}{style}", headers={"accept-encoding": ""})

    assert own.headers["content-encoding"] == file.headers["content-encoding"] == "gzip"
    assert int(file.headers["content-length"]) < len(file.content) / 2
    assert [site for site, page in foreign.items() if "content-encoding" in page.headers] == []
    assert (plain.content, "content-encoding" in plain.headers) == (file.content, False)


async def test_no_two_pages_show_a_secret_in_the_same_way(shared_place: Place) -> None:
    """Otherwise sizes of compressed pages that repeat a guess would tell the secret (BREACH)."""
    async with shared_place.browse() as stranger, shared_place.browse("reader") as browser:
        entrances = {(await stranger.get("sign-in"), stranger.form_token)[1] for _ in range(3)}
        tokens = {(await browser.get("search"), browser.form_token)[1] for _ in range(3)}
        first = tokens.pop()
        refused = [
            await browser.post("sign-out", form_token=wrong)
            for wrong in (first[::-1], first[:-4], f"{first}AAAA", "é", "=", "")
        ]
        accepted = await browser.post("sign-out", form_token=first)

    assert (len(entrances), len(tokens)) == (3, 2)
    assert [answer.status_code for answer in refused] == [403] * 6
    assert accepted.status_code == 303
