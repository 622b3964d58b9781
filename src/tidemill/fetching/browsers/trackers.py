"""Hosts that only track visitors: a page reads the same without them."""

from functools import lru_cache

TRACKERS = frozenset({
    "2mdn.net", "adform.net", "adnxs.com", "adsrvr.org", "adyoulike.com", "amazon-adsystem.com", "amplitude.com",
    "appsflyer.com", "bat.bing.com", "bluekai.com", "branch.io", "casalemedia.com", "chartbeat.com", "chartbeat.net",
    "clarity.ms", "cloudflareinsights.com", "connect.facebook.net", "contentsquare.net", "crazyegg.com", "criteo.com",
    "criteo.net", "crwdcntrl.net", "demdex.net", "doubleclick.net", "everesttech.net", "facebook.net", "fullstory.com",
    "google-analytics.com", "googleadservices.com", "googlesyndication.com", "googletagmanager.com",
    "googletagservices.com", "heap.io", "heapanalytics.com", "hotjar.com", "hotjar.io", "hs-analytics.net",
    "imrworldwide.com", "inspectlet.com", "intercom.io", "intercomcdn.com", "krxd.net", "logrocket.com",
    "luckyorange.com", "mathtag.com", "matomo.cloud", "mixpanel.com", "moatads.com", "mouseflow.com", "mxpnl.com",
    "newrelic.com", "nr-data.net", "omtrdc.net", "onetrust.com", "openx.net", "outbrain.com", "pingdom.net",
    "pubmatic.com", "quantcount.com", "quantserve.com", "rlcdn.com", "rubiconproject.com", "scorecardresearch.com",
    "segment.com", "segment.io", "sentry-cdn.com", "sentry.io", "sharethrough.com", "smartadserver.com", "snowplow.io",
    "taboola.com", "teads.tv", "tealiumiq.com", "tiqcdn.com", "tapad.com", "usabilla.com", "visualwebsiteoptimizer.com",
    "yieldlab.net", "zemanta.com",
})  # fmt: skip


@lru_cache(maxsize=4096)
def is_tracker(host: str) -> bool:
    """Whether the host, or a domain that it belongs to, is a tracker."""
    labels = host.rstrip(".").lower().split(".")
    return any(".".join(labels[start:]) in TRACKERS for start in range(len(labels) - 1))
