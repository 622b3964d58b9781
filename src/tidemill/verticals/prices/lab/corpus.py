"""Product pages for the benchmarks: some 30 KB each, distinct by their number, with what stands around a product."""

import json

from tidemill.lab.dice import dice

_LINK = '<li class="level-{level}"><a href="/c/{n}" class="menu-link"><span>Category {n} of everything</span></a></li>'
_WORDS = "A fine product of its kind, made with care and tested before it leaves the house. "
_FURNITURE = (
    f"<nav><ul>{''.join(_LINK.format(level=n % 3, n=n) for n in range(220))}</ul></nav>"
    f"<footer>{'<p>' + _WORDS * 3 + '</p>'}</footer>"
)


def corpus_product(number: int) -> bytes:
    """The product page with this number, the same every time."""
    draw = dice(7, "corpus product", number)
    cents = draw.randint(500, 9_999)
    title = f"Harrow Model {number} - 115 Grain, {draw.choice((20, 50, 100))} Rounds"
    product = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": title,
        "sku": f"H-{number}",
        "brand": {"@type": "Brand", "name": "Harrow"},
        "image": f"/images/{number}.jpg",
        "offers": {
            "@type": "Offer",
            "price": f"{cents / 100:.2f}",
            "priceCurrency": "USD",
            "availability": "https://schema.org/InStock",
        },
    }
    return (
        f"<!doctype html><html><head><title>{title}</title>"
        f'<script type="application/ld+json">{json.dumps(product)}</script></head><body>'
        f"<h1>{title}</h1><p class=price>${cents / 100:.2f}</p><p>{_WORDS * 60}</p>{_FURNITURE}</body></html>"
    ).encode()
