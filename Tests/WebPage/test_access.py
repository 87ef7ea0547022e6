"""For everyone: the keyboard alone, screen readers, both languages and colour schemes, old browsers."""

import json
import re
import tempfile
import unittest
from pathlib import Path

import esprima
from page_case import SIZES, PageCase, at_both_widths, expect
from speaker import make_page

#: The views by their address, with a text that shows that they are complete.
VIEWS = {
    "#/": "Hunter", "#/queue": "Jóga", "#/music": "15 tracks", "#/artists": "Die Ärzte", "#/albums": "Summer Hits",
    "#/genres": "Rock", "#/recent": "Vespertine", "#/folders": "music", "#/favourites": "Jóga", "#/played": "",
    "#/history": "", "#/search/joga": "Jóga", "#/search/zzzz": "Nothing was found.", "#/playlists": "Evening",
    "#/playlists/Evening": "Cocoon", "#/settings": "Tonearm",
    "#/wifi": "Wi-Fi",
}
#: Newer than Chrome 70 or Safari 12, which show the page without them or fail.
TOO_NEW = {
    "script.js": r"replaceChildren\(\)|\.at\(|replaceAll|fromEntries|structuredClone|IntersectionObserver|matchAll"
                 r"|allSettled|ResizeObserver|queueMicrotask|globalThis|\binert\b|showModal|flatMap|PluralRules"
                 r"|RelativeTimeFormat",
    "style.css": r":is\(|:where\(|:has\(|\binset:|clamp\(|min\(|max\((?!-)|aspect-ratio|@layer|@container|dvh"
                 r"|place-items|&\s",
}
#: What a strict policy for contents refuses, and what turns data into markup.
FORBIDDEN = (r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|style=|\son\w+="
             r"|https?://(?!www\.w3\.org/)")
#: In bytes, of all files.
LARGEST = 153_000


class Access(PageCase):
    def prepare(self):
        self.speaker.reset()
        self.speaker.fill_queue("Björk/Homogenic")
        self.speaker.ask("favourite", path=str(self.speaker.music / "Björk/Homogenic/02.flac"), on=True)
        self.speaker.ask("playlist-add", name="Evening",
                         products=[{"path": str(self.speaker.music / "Björk/Vespertine")}])
        self.speaker.ask("play")
        self.speaker.ask("pause")

    def test_axe_finds_nothing(self):
        self.prepare()
        for width in SIZES:
            for scheme in ["light", "dark"]:
                with self.subTest(width=width, scheme=scheme):
                    self.open_page(width, scheme=scheme)
                    expect(self.page.locator("#title"), "the track").to_have_text("Hunter")
                    for address, sign in VIEWS.items():
                        self.page.evaluate("address => { location.hash = address; }", address)
                        if address != "#/":
                            expect(self.page.locator("#view"), f"the view {address}").to_contain_text(sign)
                        self.expect_no_violation(address)
                    self.close_page()

    def test_axe_finds_nothing_in_sheets(self):
        self.prepare()
        for scheme in ["light", "dark"]:
            with self.subTest(scheme=scheme):
                self.open_page(360, "#/queue", scheme=scheme)
                self.button("More for Jóga").click()
                self.expect_no_violation("a menu")
                self.page.keyboard.press("Escape")
                self.button("Save as playlist").click()
                self.expect_no_violation("a form")
                self.close_page()

    @at_both_widths
    def test_plays_an_album_by_the_keyboard_alone(self):
        expect(self.page.locator("#tabs a[aria-current]"), "the first view").to_be_attached()
        self.tab_to("Music")
        self.page.keyboard.press("Enter")
        expect(self.heading("Music"), "the focus on the new page").to_be_focused()
        self.tab_to("Albums")
        self.page.keyboard.press("Enter")
        expect(self.heading("Albums")).to_be_focused()
        expect(self.rows("Albums")).to_have_count(4)
        self.tab_to("More for Geräusch")
        self.page.keyboard.press("Enter")
        expect(self.page.get_by_role("heading", name="Geräusch"), "the focus in the menu").to_be_focused()
        self.tab_to("Play now")
        self.page.keyboard.press("Enter")
        self.speaker.wait_for_status("the album", state="playing", count=2, title="Schöne Grüße")
        expect(self.button("More for Geräusch"), "the focus where it was").to_be_focused()

    @at_both_widths
    def test_a_sheet_keeps_the_focus_and_escape_closes_it(self):
        self.speaker.fill_queue("Björk/Homogenic")
        self.go("Queue")
        self.button("More for Jóga").click()
        names = []
        for _ in range(8):
            self.page.keyboard.press("Tab")
            names.append(self.focused())
        actions = ["Play", "Remove", "Add to a playlist", "Move to the top", "Move up", "Move down", "Cancel", "Play"]
        self.assertEqual(names, actions)
        self.page.keyboard.press("Shift+Tab")
        self.assertEqual(self.focused(), "Cancel")
        self.page.keyboard.press("Escape")
        expect(self.page.get_by_role("dialog")).to_be_hidden()
        expect(self.button("More for Jóga")).to_be_focused()

    @at_both_widths
    def test_the_focused_element_is_marked(self):
        self.tab_to("Settings")
        outline = self.page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
        self.assertEqual(outline, "3px")

    def test_speaks_german(self):
        self.prepare()
        for width in SIZES:
            with self.subTest(width=width):
                self.open_page(width, "#/queue", language="de-AT")
                expect(self.heading("Warteliste")).to_be_visible()
                self.assertEqual(self.page.evaluate("document.documentElement.lang"), "de")
                expect(self.page.locator("#view")).to_contain_text("6 Einträge")
                expect(self.page.locator("#volume")).to_have_attribute("aria-label", "Lautstärke")
                self.go("Optionen")
                expect(self.field("Gleiche Lautheit")).to_be_visible()
                expect(self.field("Tongerät").locator("option").first).to_have_text("automatisch")
                expect(self.button("Neu starten")).to_be_visible()
                self.close_page()

    def test_large_letters_keep_rows_readable(self):
        self.prepare()
        self.open_page(360, "#/queue")
        self.page.evaluate("document.documentElement.style.fontSize = '32px'")
        self.page.set_viewport_size({"width": 361, "height": 640})
        heights = "() => Array.from(document.querySelectorAll('.row')).map(row => row.offsetHeight)"
        self.page.wait_for_function(f"({heights})().every(height => height === 120)")
        boxes = [self.row(title).bounding_box() for title in ("Hunter", "Jóga")]
        self.assertAlmostEqual(boxes[1]["y"] - boxes[0]["y"], 120, delta=1)


class Files(unittest.TestCase):
    """The installed files themselves, without a browser."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="tonearm-page-"))) / "page"
        make_page(cls.folder)
        cls.script = (cls.folder / "script.js").read_text()
        cls.page = (cls.folder / "index.html").read_text()
        # Fails for syntax that is newer than ECMAScript 2017.
        cls.program = esprima.parseScript(cls.script)
        table = next(each for each in cls.program.body if each.type == "VariableDeclaration"
                     and each.declarations[0].id.name == "TEXTS").declarations[0].init
        cls.texts = [(text.key.value, [form.value for form in text.value.elements]) for text in table.properties]

    def test_both_languages_have_the_same_texts_with_the_same_values(self):
        self.assertEqual(len(self.texts), len(dict(self.texts)), "a key stands twice")
        for key, forms in self.texts:
            with self.subTest(key=key):
                self.assertEqual([bool(form) for form in forms], [True, True])
                english, german = (sorted(re.findall(r"\{\w+\}", form)) for form in forms)
                self.assertEqual(english, german)

    def test_every_text_that_is_used_exists_and_every_text_is_used(self):
        keys = dict(self.texts)
        used = set(re.findall(r'data-(?:text|label)="([^"]+)"', self.page))
        used |= set(re.findall(r'\btext\("([\w.-]+)"', self.script))
        counted = set(re.findall(r'\bcounted\("([\w.-]+)"', self.script))
        used |= {f"{key}.{form}" for key in counted for form in ("one", "other")}
        self.assertEqual(sorted(key for key in used if key not in keys and not key.endswith(".")), [])
        body = self.script[self.script.index("const LANGUAGE"):]
        # Keys that are put together: "error." + code.
        prefixes = {"system.", *re.findall(r'"([\w.-]+\.)" \+', body)}
        words = set(re.findall(r'"([\w.-]+)"', body)) | used
        unused = [key for key in keys if key not in words and not any(key.startswith(each) for each in prefixes)]
        self.assertEqual(unused, [])

    def test_the_files_have_nothing_that_browsers_of_2018_or_a_strict_policy_refuse(self):
        for name in ("script.js", "events.js", "style.css", "index.html"):
            content = (self.folder / name).read_text()
            kind = "script.js" if name.endswith(".js") else name
            code = re.sub(r"/\*.*?\*/|^\s*//.*$", "", content, flags=re.DOTALL | re.MULTILINE)
            self.assertEqual(re.findall(FORBIDDEN, code), [], name)
            if kind in TOO_NEW:
                code = re.sub(r"@media \([^)]*\)|minmax\(|function replaceChildren\(|\bmax-width|\bmin-width", "", code)
                self.assertEqual(re.findall(TOO_NEW[kind], code), [], name)
        self.assertNotIn("<style", self.page)
        self.assertNotIn("<script>", self.page)

    def test_the_files_are_small(self):
        self.assertLess(sum(file.stat().st_size for file in self.folder.iterdir()), LARGEST)

    def test_the_manifest_names_icons_that_exist(self):
        manifest = json.loads((self.folder / "manifest.webmanifest").read_text())
        for icon in manifest["icons"]:
            self.assertTrue((self.folder / icon["src"]).is_file(), icon)
        for name in re.findall(r'(?:href|src)="([\w.-]+)"', self.page):
            self.assertTrue((self.folder / name).is_file(), name)

    def test_every_icon_and_every_element_that_the_script_names_exists(self):
        icons = set(re.findall(r'id="icon-([\w-]+)"', self.page))
        used = set(re.findall(r'#icon-([\w-]+)"', self.page))
        used |= set(re.findall(r'(?:icon|showIcon|setIcon)\((?:byId\([^)]*\), )?"([\w-]+)"', self.script))
        self.assertEqual(sorted(used - icons), [])
        elements = set(re.findall(r'\bid="([\w-]+)"', self.page))
        self.assertEqual(sorted(set(re.findall(r'byId\("([\w-]+)"\)', self.script)) - elements), [])
