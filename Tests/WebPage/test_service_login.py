"""The login to the music service, with a real one beside the daemon."""

from content_service import Service
from page_case import SIZES, PageCase, at_both_widths, expect

PASSWORD = "open sesame"
SETTINGS = """
[service]
url = {address}
client = Kitchen
[offline]
free-space = 0
"""
#: What is drawn in the middle of each module of the code, with the light zone around it: a text for each row.
MODULES = """picture => {
    picture.scrollIntoView({ block: "center" });
    const box = picture.getBoundingClientRect();
    const size = picture.viewBox.baseVal.width;
    const each = Array.from({ length: size }, (_, index) => (index + 0.5) / size);
    const isDark = (x, y) => {
        const drawn = document.elementFromPoint(box.left + x * box.width, box.top + y * box.height);
        return getComputedStyle(drawn).fill === "rgb(0, 0, 0)";
    };
    return each.map(y => each.map(x => isDark(x, y) ? "1" : "0").join(""));
}"""


class ServiceLogin(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        password_file = cls.speaker.folder / "service-password"
        password_file.write_text(PASSWORD + "\n")
        cls.service = Service(cls.speaker, "--password-file", password_file)
        cls.addClassCleanup(cls.service.discard)
        cls.speaker.restart(settings=SETTINGS.format(address=cls.service.address))
        cls.addClassCleanup(cls.speaker.restart)

    def status(self):
        return self.speaker.ask("service-status")

    def state(self, line):
        return self.page.get_by_text(f"{line} {self.service.address}.", exact=True)

    def begin(self):
        """Begins a login, and returns what the user needs for it."""
        self.speaker.ask("service-logout")
        self.go("Settings")
        expect(self.state("Not logged in to"), "the state before").to_be_visible()
        self.button("Log in").click()
        expect(self.button("Cancel the login"), "the focus during the login").to_be_focused()
        return self.status()["prompt"]

    def decide(self, decision):
        """Opens the page of the service, and decides there."""
        with self.page.context.expect_page() as opened:
            self.page.get_by_role("link", name=self.service.address).click()
        page = opened.value
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name=decision).click()
        # After a mistake the form comes again.
        expect(page.get_by_role("button"), "the form after the decision").to_have_count(0)
        page.wait_for_load_state()
        page.close()

    @at_both_widths
    def test_logs_in_and_out(self):
        prompt = self.begin()
        expect(self.page.get_by_text(f"Code: {prompt['code']}"), "the code").to_be_visible()
        self.decide("Let it in")
        expect(self.state("Logged in to"), "the state after").to_be_visible()
        self.assertTrue(self.status()["loggedIn"])
        expect(self.button("Cancel the login"), "the end of the login").to_have_count(0)
        expect(self.page.get_by_role("img", name="QR code of the page")).to_have_count(0)
        self.button("Log out").click()
        expect(self.page.get_by_role("dialog"), "the question").to_contain_text("Log out of the music service?")
        self.assertTrue(self.status()["loggedIn"])
        self.button("Log out", self.page.get_by_role("dialog")).click()
        expect(self.state("Not logged in to"), "the state after the logout").to_be_visible()
        self.assertFalse(self.status()["loggedIn"])

    @at_both_widths
    def test_cancels(self):
        self.begin()
        self.button("Cancel the login").click()
        expect(self.button("Log in"), "the focus after the login").to_be_focused()
        self.assertIsNone(self.status()["prompt"])

    @at_both_widths
    def test_says_why_it_failed(self):
        self.begin()
        self.decide("Refuse")
        expect(self.page.get_by_role("alert").filter(has_text="It has failed: "), "the reason").to_contain_text(
            "has refused this player")
        expect(self.button("Log in")).to_be_visible()

    @at_both_widths
    def test_draws_the_code_with_a_light_zone_around_it(self):
        prompt = self.begin()
        size = len(prompt["qr"]) + 8
        light = ["0" * size] * 4
        expected = light + [f"0000{row}0000" for row in prompt["qr"]] + light
        picture = self.page.get_by_role("img", name="QR code of the page")
        expect(picture, "the picture").to_be_visible()
        self.assertEqual(picture.evaluate(MODULES), expected)

    @at_both_widths
    def test_asks_only_while_the_code_is_in_sight(self):
        self.page.clock.install()
        self.begin()
        for _ in range(2):
            with self.page.expect_request("**/api/service-status"):
                self.page.clock.run_for(2000)
        self.go("Queue")
        asked = []
        self.page.on("request", lambda request: asked.append(request.url.rsplit("/", 1)[1]))
        self.page.clock.run_for(10_000)
        self.page.evaluate("request('version')")
        self.assertIn("version", asked)
        self.assertNotIn("service-status", asked)

    def test_is_for_everyone(self):
        for width in SIZES:
            for scheme in ["light", "dark"]:
                with self.subTest(width=width, scheme=scheme):
                    self.speaker.ask("service-logout")
                    self.open_page(width, "#/settings", language="de", scheme=scheme)
                    self.button("Anmelden").click()
                    expect(self.button("Anmeldung abbrechen")).to_be_visible()
                    expect(self.page.get_by_role("img", name="QR-Code der Seite")).to_be_visible()
                    self.expect_no_violation("the login")
                    self.close_page()
