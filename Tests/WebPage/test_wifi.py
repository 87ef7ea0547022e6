"""Wi-Fi: the test plays the system, with the files that it has in the images."""

import os
import re

from page_case import SIZES, PageCase, at_both_widths, expect

OWN = "mode=access-point\naccess-point=Tonearm-1A2B\naddress=127.0.0.1\n"


def digits(name):
    return name.encode().hex()


NETWORKS = (f"-50 wpa2 {digits('home')}\n-62 open {digits('café')}\n-75 wpa3 ff61\n"
            f"-90 other {digits('work')}\n")


class WiFi(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = cls.speaker.folder / "wifi"
        cls.folder.mkdir()
        cls.speaker.restart(settings=f"[network]\nwifi-folder = {cls.folder}")
        cls.addClassCleanup(cls.speaker.restart)

    def setUp(self):
        for file in self.folder.iterdir():
            file.unlink()
        self.report("state", OWN)
        self.report("networks", NETWORKS)

    def report(self, name, contents):
        """Replaces a file as a whole, as the system does."""
        (self.folder / "new").write_text(contents)
        os.rename(self.folder / "new", self.folder / name)

    def begin(self, state):
        """Takes the request, and reports. Returns the lines of the request."""
        lines = (self.folder / "wanted").read_text().splitlines()
        os.rename(self.folder / "wanted", self.folder / "begun")
        self.report("state", state)
        return lines

    def open_view(self):
        self.go("Settings")
        self.page.get_by_role("link", name="Choose a network").click()
        expect(self.heading("Wi-Fi"), "the view").to_be_focused()

    def state(self, line):
        return self.page.locator("#view").get_by_role("status").get_by_text(line, exact=True)

    def problem(self, line):
        return self.page.get_by_role("alert").get_by_text(line, exact=True)

    def network(self, name):
        networks = self.page.get_by_role("list", name="Networks in range")
        return networks.get_by_role("button", name=re.compile(f"^{name}"))

    def join(self, name, password):
        self.network(name).click()
        self.field("Password").fill(password)
        self.button("Connect").click()

    @at_both_widths
    def test_lists_networks_with_their_signal(self):
        self.setUp()
        self.report("known", f"file {digits('home')}\n")
        self.open_view()
        expect(self.state("Tonearm-1A2B is the speaker’s own network. Choose the network that it shall use."),
               "the state").to_be_visible()
        rows = self.page.get_by_role("list", name="Networks in range").get_by_role("button")
        expect(rows, "the networks").to_have_text([
            "homesecured · very good · known", "caféopen · good", "\\xffasecured · weak",
            "worknot supported · very weak"])
        self.assertEqual([row.is_disabled() for row in rows.all()], [False, False, False, True])
        bars = [row.locator(".signal rect:not(.dim)").count() for row in rows.all()]
        self.assertEqual(bars, [4, 3, 2, 1])
        expect(self.page.get_by_text("home · in the configuration", exact=True)).to_be_visible()
        # A new scan, without the focus on the way.
        self.network("café").focus()
        self.report("networks", f"-40 wpa2 {digits('new')}\n{NETWORKS}")
        expect(rows, "the networks of another scan").to_have_count(5)
        expect(self.network("café"), "the focus").to_be_focused()

    @at_both_widths
    def test_says_why_a_network_was_not_joined_and_joins_it_then(self):
        self.setUp()
        self.open_view()
        self.join("home", "short")
        expect(self.problem("A password has 8 to 63 characters.")).to_be_visible()
        self.assertFalse((self.folder / "wanted").exists())
        self.field("Password").fill("not the right one")
        self.button("Connect").click()
        expect(self.state("The speaker now tries home."), "the state").to_be_visible()
        advice = self.page.locator("#view .advice")
        expect(advice).to_contain_text("Its network Tonearm-1A2B is closed meanwhile.")
        expect(advice).to_contain_text(
            "Connect your phone to the network Tonearm-1A2B again if the speaker is not found in a minute.")
        expect(self.button("Look again")).to_have_count(0)
        wanted = self.begin(f"mode=trying\nssid={digits('home')}\naccess-point=Tonearm-1A2B\n")
        self.assertEqual(wanted, ["join", f"ssid={digits('home')}", f"password={digits('not the right one')}"])
        # The speaker is away. The text stays.
        self.page.context.set_offline(True)
        with self.page.expect_event("requestfailed", lambda request: request.url.endswith("/wifi-status")):
            pass
        expect(self.state("The speaker now tries home."), "the state while it is away").to_be_visible()
        self.report("state", f"{OWN}failed={digits('home')}\nproblem=wrong-password\n")
        self.page.context.set_offline(False)
        expect(self.problem("home: the password is wrong."), "the reason").to_be_visible()

        self.join("home", "correct horse")
        expect(self.state("The speaker now tries home.")).to_be_visible()
        expect(self.problem("home: the password is wrong.")).to_have_count(0)
        self.begin(f"mode=connected\nssid={digits('home')}\n")
        expect(self.state("Connected to home."), "the state after").to_be_visible()
        self.expect_notice("The speaker is in the network home now.")

    @at_both_widths
    def test_joins_open_and_hidden_networks_and_others_by_their_bytes(self):
        self.setUp()
        self.report("state", f"mode=connected\nssid={digits('home')}\n")
        self.open_view()
        expect(self.state("Connected to home.")).to_be_visible()
        self.network("café").click()
        expect(self.field("Password")).to_have_count(0)
        self.button("Connect").click()
        expect(self.page.locator("#view .advice")).to_contain_text("The connection to it may be lost meanwhile.")
        expect(self.state("The speaker now tries café.")).to_be_visible()
        self.assertEqual(self.begin("mode=off\n"), ["join", f"ssid={digits('café')}"])
        expect(self.state("Not connected to a network.")).to_be_visible()
        self.button("Hidden network").click()
        self.field("Name of the network").fill("attic")
        self.field("Password").fill("battery staple")
        self.button("Connect").click()
        expect(self.state("The speaker now tries attic.")).to_be_visible()
        self.assertEqual(self.begin("mode=off\n"), [
            "join", f"ssid={digits('attic')}", f"password={digits('battery staple')}", "hidden=yes"])
        self.join(r"\\xffa", "0123456789")
        expect(self.state("The speaker now tries \\xffa.")).to_be_visible()
        self.assertEqual(self.begin("mode=off\n")[1], "ssid=ff61")

    @at_both_widths
    def test_forgets_a_network(self):
        self.setUp()
        self.report("known", f"page {digits('café')}\n")
        self.open_view()
        self.button("Forget café").click()
        expect(self.page.get_by_role("dialog"), "the question").to_contain_text("Forget café and its password?")
        with self.page.expect_response("**/api/wifi-forget"):
            self.button("Forget café", self.page.get_by_role("dialog")).click()
        self.report("known", "")
        self.assertEqual(self.begin(OWN), ["forget", f"ssid={digits('café')}"])
        expect(self.button("Forget café"), "the network after").to_have_count(0)

    @at_both_widths
    def test_looks_for_networks(self):
        self.setUp()
        self.open_view()
        self.button("Look again").click()
        self.expect_notice("The speaker looks for networks.")
        self.report("networks", "")
        self.assertEqual(self.begin(OWN), ["scan"])
        expect(self.page.get_by_text("No network was found.")).to_be_visible()

    @at_both_widths
    def test_needs_the_keyboard_alone_and_shows_the_password(self):
        self.setUp()
        self.open_view()
        self.tab_to("homesecured · very good")
        self.page.keyboard.press("Enter")
        expect(self.field("Password"), "the focus in the form").to_be_focused()
        self.page.keyboard.type("correct horse")
        self.tab_to("Show the password")
        self.page.keyboard.press("Space")
        expect(self.field("Password")).to_have_attribute("type", "text")
        expect(self.button("Show the password")).to_have_attribute("aria-pressed", "true")
        self.page.keyboard.press("Space")
        expect(self.field("Password")).to_have_attribute("type", "password")
        self.page.keyboard.press("Escape")
        expect(self.network("home"), "the focus after Escape").to_be_focused()
        self.page.keyboard.press("Enter")
        expect(self.field("Password")).to_have_value("")
        self.page.keyboard.type("correct horse")
        self.page.keyboard.press("Enter")
        expect(self.state("The speaker now tries home.")).to_be_visible()

    def test_is_for_everyone(self):
        for width in SIZES:
            for scheme in ["light", "dark"]:
                with self.subTest(width=width, scheme=scheme):
                    self.setUp()
                    self.report("known", f"page {digits('home')}\nfile 78\n")
                    self.report("state", f"{OWN}failed={digits('home')}\nproblem=not-found\n")
                    # The address to which phones are sent.
                    self.open_page(width, "#wifi", language="de", scheme=scheme)
                    expect(self.page.get_by_role("alert").filter(has_text="wurde nicht gefunden")).to_be_visible()
                    self.expect_no_violation("the networks")
                    self.page.get_by_role("button", name="home gesichert").click()
                    self.expect_no_violation("the password")
                    self.field("Passwort").fill("12345678")
                    self.button("Verbinden").click()
                    expect(self.page.get_by_text("Der Lautsprecher versucht jetzt home.")).to_be_visible()
                    self.expect_no_violation("the attempt")
                    self.close_page()


class WithoutWiFi(PageCase):
    @at_both_widths
    def test_is_absent(self):
        self.go("Settings")
        expect(self.button("Look for new music")).to_be_visible()
        expect(self.field("Music folders")).to_be_visible()
        expect(self.page.get_by_role("link", name="Choose a network")).to_have_count(0)
        self.page.goto(f"{self.speaker.address}/#wifi")
        expect(self.page.locator("#view").get_by_role("status")).to_have_text("Wi-Fi is not set up from this page.")
        expect(self.button("Look again")).to_have_count(0)
