"""Pages that are no pages: captchas, refusals, consent walls, nothing at all."""

import re

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.reading.document import Document

_SHORT = 1_500
"""Characters of visible text under which a page is small enough to be nothing but its notice."""
_NEARLY_NOTHING = 15

_MARKS = (
    ("cdn-cgi/challenge-platform", "a Cloudflare challenge"),
    ("cf-browser-verification", "a Cloudflare challenge"),
    ("_cf_chl_opt", "a Cloudflare challenge"),
    ("captcha-delivery.com", "a DataDome captcha"),
    ("_Incapsula_Resource", "an Incapsula challenge"),
    ("px-captcha", "a PerimeterX captcha"),
    ("/_sec/cp_challenge", "an Akamai challenge"),
    ("g-recaptcha", "a captcha"),
    ("h-captcha", "a captcha"),
    ("cf-turnstile", "a captcha"),
    ("frc-captcha", "a captcha"),
    ("awswaf.com", "an AWS challenge"),
    ("aws-waf-token", "an AWS challenge"),
    ("kpsdk", "a Kasada challenge"),
    ("sucuri_cloudproxy", "a Sucuri challenge"),
    ("/.well-known/sgcaptcha", "a SiteGround captcha"),
    ("distil_r_captcha", "a Distil captcha"),
    ("ddos-guard", "a DDoS-Guard challenge"),
)
_DENIED = (
    r"\baccess (?:to this (?:page|site) )?(?:has been |is )?denied\b|\btoegang (?:is )?geweigerd\b|\bgeen toegang\b"
    r"|\b(?:403|401) forbidden\b|\bnot authori[sz]ed to (?:access|view)\b|\brequest (?:was |has been )?blocked\b"
    r"|\bsecurity (?:policy|service|system)\b.{0,60}\bblocked\b"
    r"|\byou (?:have been|are) blocked\b|\bu bent geblokkeerd\b"
)
_CAPTCHA = (
    r"\bare you (?:a )?(?:human|robot)\b|\bverify (?:that )?you(?:.re| are) (?:a )?(?:human|not a robot)\b"
    r"|\bbent u een (?:mens|robot)\b|\bik ben geen robot\b|\bcaptcha\b"
)
_CHECK = (
    r"\bchecking (?:if the site connection is secure|your browser)\b|\bunusual (?:activity|traffic)\b"
    r"|\bjust a moment\b|\bpardon our interruption\b"
)
_TOO_MANY = r"\btoo many requests\b|\brate limit(?:ed)? exceeded\b|\bte veel verzoeken\b"
_SCRIPTED = r"\benable javascript\b|\bjavascript (?:is (?:required|disabled)|moet)\b|\bschakel javascript in\b"
_NOTICES = (
    (_DENIED, "access denied"),
    (_CAPTCHA, "a captcha"),
    (_CHECK, "a browser check"),
    (_TOO_MANY, "too many requests"),
    (_SCRIPTED, "a page that needs JavaScript"),
)
_NOTICED = tuple((re.compile(pattern, re.IGNORECASE), reason) for pattern, reason in _NOTICES)
_CONSENT = re.compile(
    r"\b(?:accept|accepteer|toestaan|akkoord|agree|weiger|reject|consent|toestemming|instemmen)\w*\b", re.IGNORECASE
)
_COOKIES = re.compile(r"\b(?:cookie|cookies|privacy|gdpr|avg)\b", re.IGNORECASE)
_CONSENT_ADDRESS = re.compile(
    r"https?://(?:consent|privacy-?gate|myprivacy|cookiewall)[^/]*\.|/(?:cookiewall|consent-wall|cookie-consent)\b"
)


def blocked(document: Document) -> Fail | None:
    """Why the page is not the one we asked for; None for an ordinary page, whatever it mentions in passing.

    Ask it when no structured data was found: a page with events on it is a page. Only a page with little else
    to read is taken for its notice, so that an article about captchas or a cookie bar blocks nothing.
    """
    if not document.markup.strip():
        return Fail(Failure.EMPTY_PAGE, "no content at all")
    words = document.text
    if len(words) > _SHORT:
        return None
    if _CONSENT_ADDRESS.search(document.url):
        return Fail(Failure.BLOCKED_PAGE, "a consent wall")
    reason = _mark(document) or _notice(f"{document.title} {words}")
    if reason:
        return Fail(Failure.BLOCKED_PAGE, reason)
    if len(words) < _NEARLY_NOTHING:
        return Fail(Failure.EMPTY_PAGE, "no readable text")
    return None


def _mark(document: Document) -> str:
    return next((reason for mark, reason in _MARKS if mark in document.markup and not _has_substance(document)), "")


def _notice(words: str) -> str:
    for pattern, reason in _NOTICED:
        if pattern.search(words):
            return reason
    cookies, consents = len(_COOKIES.findall(words)), len(_CONSENT.findall(words))
    if cookies >= 2 and consents >= 2 and (cookies + consents) * 12 > len(words.split()):  # noqa: PLR2004 - said, and asked
        return "a consent wall"
    return ""


def _has_substance(document: Document) -> bool:
    """A form with a captcha on an ordinary page: several links and a heading beside it."""
    return len(document.css("a[href]")) > 10 and document.first("h1, h2") is not None  # noqa: PLR2004 - a menu's worth
