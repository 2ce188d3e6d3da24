"""Getters of browsers."""

import json
from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters.chrome.gotoRecreationPage_and_get_html_content import RESULT, URL
from backend.domain.evaluators.getters.edge.validate_pwa_installed import COMMAND
from backend.domain.ports.desktop import ExecResult
from backend.domain.ports.web import Tab
from tests.factories import chrome_profile
from tests.factories.getter_cases import GetterCase
from tests.factories.lnk import lnk
from tests.factories.starter_tasks import FakeContext
from tests.fakes.browser import FakeBrowser
from tests.fakes.desktop import FakeDesktop
from tests.fakes.web import FakeWeb

CHROME, CHROMIUM, EDGE = "~/.config/google-chrome", "~/.config/chromium", "$LOCALAPPDATA/Microsoft/Edge/User Data"
SHOP = (
    "https://www.macys.com/shop/mens-clothing/Men_regular_size_t,Price_discount_range/L,50_PERCENT_%20off%20%26%20more"
)
DRIVE = "https://www.googleapis.com/drive/v2/files"


def profile(files: Mapping[str, bytes], folder: str = CHROME) -> FakeContext:
    """A desktop with files of a profile."""
    desktop = FakeDesktop()
    desktop.platform = "Windows" if folder == EDGE else "Linux"
    desktop.files = {f"{folder}/{name}": data for name, data in files.items()}
    return FakeContext(desktop)


def setting(
    value: Any, stored: Mapping[str, Any], name: str = "Default/Preferences", folder: str = CHROME
) -> GetterCase:
    """A getter of one setting."""
    return GetterCase(
        parameters={},
        found=lambda: profile({name: chrome_profile.as_file(stored)}, folder),
        value=value,
        absent=lambda: profile({}, folder),
    )


def edge(value: Any, stored: Mapping[str, Any], name: str = "Default/Preferences") -> GetterCase:
    return setting(value, stored, name, EDGE)


def table(data: bytes, value: Any, name: str, folder: str = CHROME) -> GetterCase:
    """A getter of a database."""
    return GetterCase(
        parameters={"dest": "copy.sqlite"},
        found=lambda: profile({name: data}, folder),
        value=value,
        absent=lambda: profile({}, folder),
    )


def bar(*texts: str, app: str = "Google Chrome", active: int = 0) -> str:
    """An accessibility tree with a window per address."""
    frames = "".join(
        f'<frame name="window {n}" st:active="{str(n == active).lower()}">'
        f'<entry name="Address and search bar">{text.replace("&", "&amp;")}</entry></frame>'
        for n, text in enumerate(texts)
    )
    space = 'xmlns:st="https://accessibility.ubuntu.example.org/ns/state"'
    return f'<desktop-frame {space}><application name="{app}">{frames}</application></desktop-frame>'


def showing(text: str, *urls: str, site: Mapping[str, str] | None = None) -> FakeContext:
    """A browser whose address bar says something; the last page is the one that shows."""
    desktop = FakeDesktop()
    desktop.tree = bar(text)
    browser = FakeBrowser(site, desktop=desktop)
    for url in urls:
        browser.open(url)
    return FakeContext(desktop, browsers={9222: browser})


def browserless() -> FakeContext:
    return FakeContext(FakeDesktop())


def address_case(parameters: Mapping[str, Any], text: str, value: Any) -> GetterCase:
    return GetterCase(
        parameters={"goto_prefix": "https://www.", **parameters},
        found=lambda: showing(text, f"https://www.{text}"),
        value=value,
        absent=browserless,
    )


def answering(answers: Mapping[str, Any]) -> FakeContext:
    """A page on which the script of `active_tab_html_parse` finds something."""
    context = showing("shop.example/a", "https://other.example/", "https://www.shop.example/a")
    browser = context.browser()
    assert isinstance(browser, FakeBrowser)
    nothing: dict[str, Any] = {
        "texts": {},
        "own": {},
        "heads": {},
        "items": {},
        "labels": {},
        "xpaths": {},
        "inputs": {},
    }
    browser.on_evaluate = lambda _, script: {**nothing, **answers} if script.startswith("(query => {") else None
    return context


def visiting(answers: Mapping[str, Any], site: Mapping[str, str] | None = None) -> FakeContext:
    """A browser in which expressions that contain a text give a value; a click on a result opens a page."""
    desktop = FakeDesktop()
    browser = FakeBrowser(site, desktop=desktop)

    def on_evaluate(_: Tab, script: str) -> Any:
        if RESULT in script and "click()" in script:
            browser.open("https://www.recreation.gov/camping")
        return next((value for part, value in answers.items() if part in script), True)

    browser.on_evaluate = on_evaluate
    return FakeContext(desktop, browsers={9222: browser})


def folder(platform: str, files: Mapping[str, bytes]) -> FakeContext:
    """A desktop with files in its folder Desktop."""
    desktop = FakeDesktop()
    desktop.platform = platform
    home, slash = ("C:\\Users\\Docker", "\\") if platform == "Windows" else ("/home/user", "/")
    place = f"{home}{slash}Desktop"
    desktop.routes["POST", "/desktop_path"] = {"desktop_path": place}
    listing = json.dumps({"files": sorted(files), "folders": []})
    desktop.commands["python"] = lambda _: ExecResult(returncode=0, output=listing)
    desktop.files = {f"{place}{slash}{name}": data for name, data in files.items()}
    return FakeContext(desktop)


def drive() -> FakeContext:
    """A Google Drive with one file in a folder."""

    class Drive(FakeWeb):
        def send(self, method: str, url: str, **more: Any) -> Any:
            if "oauth2" in url:
                return reply(url, {"access_token": "t"})
            entry = {"id": "folder"} if "forms" in url else {"id": "file"}
            return reply(url, {"items": [entry]})

    def reply(url: str, value: Any) -> Any:
        from backend.domain.ports.web import WebReply

        return WebReply(url=url, status=200, headers={}, body=json.dumps(value).encode(), fetched_at=1.0)

    settings = json.dumps({"client_id": "a", "client_secret": "b", "refresh_token": "c"})
    web = Drive({f"{DRIVE}/file?alt=media": b"%PDF"})
    return FakeContext(FakeDesktop(), web=web, secrets={"googledrive_settings": settings})


def packages(*names: str) -> FakeContext:
    desktop = FakeDesktop()
    desktop.commands[COMMAND[0]] = lambda _: ExecResult(
        returncode=0, output=json.dumps([{"Name": name} for name in names])
    )
    return FakeContext(desktop)


VISIT = ("https://www.youtube.com/watch?v=1", "Song", 13_300_000_000_000_000)
COOKIE = [13_300_000_000_000_000, ".amazon.com", "", "name0", "", b"v10", "/", 0, 1, 0, 0, 0, 1, 1, -1, 2, 443, 0, 0, 0]
FONTS = {"default_fixed_font_size": 13, "default_font_size": 20}
EXTENSIONS = {
    "extensions": {
        "settings": {
            "a": {"path": "/home/user/Desktop/helloExtension", "location": 4},
            "b": {"path": "b/1.0_0", "manifest": {"name": "Momentum"}},
            "c": {"location": 5},
        }
    }
}
BAR = chrome_profile.bookmark_roots(chrome_profile.page("https://example.org/"))
LAST_VISIT = [list(VISIT)]
GONE = {"class": "date", "selector": "class", "order": "1"}
COLOURS = {"browser": {"theme": {"color_scheme2": 1, "color_scheme": 2}}}
FORGET = {
    name: name != "hosted_apps_data"
    for name in (
        *("browsing_history", "cache", "cookies", "download_history", "form_data", "hosted_apps_data"),
        *("passwords", "site_settings"),
    )
}

CASES = {
    "default_search_engine": setting(
        "Bing", {"default_search_provider_data": {"template_url_data": {"short_name": "Bing"}}}
    ),
    "profile_name": setting("Thomas", {"profile": {"name": "Thomas"}}),
    "chrome_font_size": setting(FONTS, {"webkit": {"webprefs": {"default_font_size": 20}}}),
    "chrome_language": setting("de", {"intl": {"app_locale": "de"}}, "Local State"),
    "enabled_experiments": setting(["a@1"], {"browser": {"enabled_labs_experiments": ["a@1"]}}, "Local State"),
    "enable_do_not_track": setting("true", {"enable_do_not_track": True}),
    "enable_enhanced_safety_browsing": setting("true", {"safebrowsing": {"enhanced": True}}),
    "enable_safe_browsing": setting("false", {"safebrowsing": {"enabled": False, "enhanced": False}}),
    "new_startup_page": setting("false", {"session": {"restore_on_startup": 4}}),
    "data_delete_automacally": setting("true", {"profile": {"default_content_setting_values": {"cookies": 4}}}),
    "find_unpacked_extension_path": setting(["/home/user/Desktop/helloExtension", "b/1.0_0"], EXTENSIONS),
    "find_installed_extension_name": setting(["Momentum"], EXTENSIONS),
    "chrome_color_scheme": setting("light", COLOURS),
    "chrome_appearance_mode_ui": setting("light", COLOURS),
    "default_search_engine_from_edge": edge(
        "DuckDuckGo", {"default_search_provider": {"synced_guid": "485bf7d3-0215-45af-87dc-538868000092"}}
    ),
    "profile_name_from_edge": edge("Thomas", {"profile": {"name": "Thomas"}}),
    "edge_font_size": edge(FONTS, {"webkit": {"webprefs": {"default_font_size": 20}}}),
    "enable_do_not_track_from_edge": edge(1.0, {"enable_do_not_track": True}),
    "enable_enhanced_safety_browsing_from_edge": edge(1.0, {"edge": {"super_duper_secure_mode": {"enabled": True}}}),
    "data_delete_automacally_from_edge": edge(1.0, {"browser": {"clear_data_on_exit": FORGET}}),
    "edge_home_page": edge("www.wikipedia.org", {"homepage": "https://www.wikipedia.org/"}),
    "edge_default_download_folder": edge("C:\\", {"download": {"default_directory": "C:\\"}}),
    "bookmarks": GetterCase(
        parameters={},
        found=lambda: profile({"Default/Bookmarks": chrome_profile.as_file({"roots": BAR})}, CHROMIUM),
        value=BAR,
        absent=lambda: profile({}),
        absent_value=[],
    ),
    "favorites": GetterCase(
        parameters={},
        found=lambda: profile({"Default/Bookmarks": chrome_profile.as_file({"roots": BAR})}, EDGE),
        value=BAR,
        absent=lambda: profile({}, EDGE),
        absent_value=[],
    ),
    "history": table(chrome_profile.history(VISIT), LAST_VISIT, "Default/History"),
    "history_for_edge": table(chrome_profile.history(VISIT), LAST_VISIT, "Default/History", EDGE),
    "cookie_data": table(chrome_profile.cookies(".amazon.com"), [COOKIE], "Default/Cookies"),
    "cookie_data_for_edge": table(
        chrome_profile.cookies(".amazon.com"), [COOKIE], "Default/Network/Cookies", EDGE
    ),
    "active_url_from_accessTree": address_case({}, "drugs.com/npc/", "https://www.drugs.com/npc/"),
    "active_tab_url_parse": address_case(
        {"parse_keys": ["from", "to", "other"], "replace": {"from": "start"}, "or": {"to": "start"}},
        "rail.example/?from=BOM&to=&x=1",
        {"start": "BOM", "to": "BOM", "other": ""},
    ),
    "url_dashPart": address_case(
        {"partIndex": -2, "needDeleteId": False, "returnType": "json", "key": "time"},
        "weather.example/manchester/march-weather/1", {"time": "march-weather"},
    ),
    "macys_product_url_parse": address_case(
        {"parse_keys": ["Men_regular_size_t", "Price_discount_range"]}, SHOP.removeprefix("https://www."),
        {
            "mens_clothing": True, "shirts": None, "short_sleeve": None, "Men_regular_size_t": "L",
            "Price_discount_range": "50_PERCENT_ off & more",
        },
    ),
    "url_path_parse": address_case(
        {"parse_keys": ["shirts", "Price_discount_range"]}, "macys.com/shop/mens-clothing/shirts",
        {
            "mens_clothing": True, "shirts": True, "short_sleeve": None,
            "Price_discount_range": "not_50_PERCENT_ off & more",
        },
    ),
    "active_tab_info": GetterCase(
        parameters={"goto_prefix": "https://www."},
        found=lambda: showing(
            "a.example/x", "https://b.example/", "https://a.example/x", site={"https://a.example/x": "<p>A</p>"}
        ),
        value={"title": "https://a.example/x", "url": "https://a.example/x", "content": "<p>A</p>"},
        absent=browserless,
    ),
    "open_tabs_info": GetterCase(
        parameters={},
        found=lambda: showing("x", "https://a.example/"),
        value=[{"title": "https://a.example/", "url": "https://a.example/"}],
        absent=browserless,
        absent_value=[],
    ),
    "page_info": GetterCase(
        parameters={"url": "https://a.example/", "load_state": "load"},
        found=lambda: showing("x", "https://b.example/", site={"https://a.example/": "<p>cart</p>"}),
        value={"title": "https://a.example/", "url": "https://a.example/", "content": "<p>cart</p>"},
        absent=browserless,
    ),
    "pdf_from_url": GetterCase(
        parameters={"path": "https://a.example/", "dest": "gold.pdf"},
        found=lambda: showing("x", "https://b.example/"),
        value="{folder}/gold.pdf",
        absent=browserless,
        absent_value=EvaluatorFailed,
    ),
    "number_of_search_results": GetterCase(
        parameters={}, found=lambda: visiting({"search-result": 7}), value=7, absent=browserless,
        absent_value=EvaluatorFailed,
    ),
    "info_from_website": GetterCase(
        parameters={
            "url": "https://a.example/",
            "infos": [
                {"action": "inner_text", "selector": "#name"},
                {"action": "click_and_attribute", "selector": ["#go", "a.paper"], "attribute": "href"},
            ],
        },
        found=lambda: visiting({"innerText": "Yann LeCun", "getAttribute": "https://hal.example/"}),
        value=["Yann LeCun", "https://hal.example/"],
        absent=browserless,
        absent_value=EvaluatorFailed,
    ),
    "gotoRecreationPage_and_get_html_content": GetterCase(
        parameters=GONE,
        found=lambda: visiting({"getElementsByClassName": ["Site", " Dec 1 "]}, {URL: ""}),
        value={"expected": {"date": "Dec 1"}},
        absent=browserless,
        absent_value=EvaluatorFailed,
    ),
    "active_tab_html_parse": GetterCase(
        parameters={
            "goto_prefix": "https://www.", "category": "class", "class_singleObject": {"date": "time"},
            "class_multiObject_child": {"place": {"0": "start", "1": "end"}},
        },
        found=lambda: answering({"texts": {".date": ["\n Mon \n"]}, "own": {".place": [["SEA"]]}}),
        value={"start": "SEA", "end": "", "time": "Mon"},
        absent=browserless,
    ),
    "shortcuts_on_desktop": GetterCase(
        parameters={},
        found=lambda: folder("Linux", {"a.desktop": b"[Desktop Entry]\nName=A\n", "b.txt": b"no"}),
        value={"a.desktop": "[Desktop Entry]\nName=A\n"},
        absent=lambda: folder("Linux", {}),
        absent_value={},
    ),
    "url_shortcuts_on_desktop": GetterCase(
        parameters={},
        found=lambda: folder("Windows", {"a.url": b"[InternetShortcut]\r\n", "b.lnk": lnk("no")}),
        value={"a.url": "[InternetShortcut]\r\n"},
        absent=lambda: folder("Linux", {"a.url": b"x"}),
        absent_value={},
    ),
    "validate_pwa_installed": GetterCase(
        parameters={},
        found=lambda: packages("Microsoft.Paint", "1.PWABuilder.Game"),
        value="app_installed",
        absent=lambda: packages("Microsoft.Paint"),
        absent_value="app_not_installed",
    ),
    "googledrive_file": GetterCase(
        parameters={"path": ["forms", "form.pdf"], "dest": "form.pdf", "settings_file": "x.yml"},
        found=drive,
        value="{folder}/0/form.pdf",
    ),
}  # fmt: skip
