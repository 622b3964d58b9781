"""Pages and texts that were made to take long: each a function of its size, about so many repetitions of something."""

from collections.abc import Callable

Shape = Callable[[int], str]

_ITEM = 'itemscope itemtype="https://schema.org/Event"'
_LD = '<script type="application/ld+json">{}</script>'


def _itemref_chain(size: int) -> str:
    """Each item names the next two: sixteen levels of it are 65,536 items."""
    item = '<p id="{name}{at}" itemprop="subEvent" {kind} itemref="i{next} j{next}"></p>'
    places = [(name, at) for at in range(size) for name in "ij"]
    items = [item.format(name=name, at=at, next=at + 1, kind=_ITEM) for name, at in places]
    return f'<div {_ITEM} itemref="i0 j0"></div>' + "".join(items)


def _words_in_itemprop(size: int) -> str:
    return f'<div {_ITEM}><p itemprop="{"naam " * size}">{"woord " * size}</p></div>'


_EVENT = '{"@type":"Event","name":"x","startDate":"2027-01-02"}'


MARKUP: dict[str, Shape] = {
    "itemref chains": lambda size: _itemref_chain(min(size, 40)),
    "nested itemprop": lambda size: f"<div {_ITEM}>" + "<span itemprop=name>woord " * size,
    "many words in one itemprop": _words_in_itemprop,
    "many items": lambda size: f"<div {_ITEM}><b itemprop=name>x</b></div>" * size,
    "nested items": lambda size: f"<div itemprop=subEvent {_ITEM}>" * size,
    "many typeof": lambda size: "<div typeof='schema:Event'><b property=name>x</b></div>" * size,
    "escaped quotes": lambda size: _LD.format('{"name":"' + r"\"" * size),
    "open braces": lambda size: _LD.format('{"a":' * size),
    "open lists": lambda size: _LD.format("[" * size),
    "commas": lambda size: _LD.format("[" + "," * size),
    "comments": lambda size: _LD.format("/*" * size),
    "numbers that are none": lambda size: _LD.format("[" + "NaN,1e400,-" * size),
    "digits in data": lambda size: _LD.format('{"price":' + "9" * size + ",}"),
    "exponents": lambda size: _LD.format('{"price":1e' + "9" * size + "x" + "-.e" * size),
    "events": lambda size: _LD.format("[" + ",".join([_EVENT] * size) + "]"),
    "graph by reference": lambda size: _LD.format(
        '{"@graph":[' + ",".join(f'{{"@id":"#{at}","location":{{"@id":"#{at + 1}"}}}}' for at in range(size)) + "]}"
    ),
    "schedules": lambda size: _LD.format(
        '{"@type":"Event","name":"x","eventSchedule":['
        + ",".join(['{"startDate":"2027-01-01","endDate":"2047-01-01","repeatFrequency":"P1D"}'] * size) + "]}"
    ),
    "scripts of shops": lambda size: '<script>var p = {"name": "' + r"\"" * size + "</script>",
    "calls in a script": lambda size: "<script>" + "f({" * size + "</script>",
    "prices in one parent": lambda size: "<h1>Fiets</h1><div>" + "<b class=price>€ 9,95</b>" * size + "</div>",
    "prices in a row": lambda size: "<h1>Fiets</h1><p class=price>" + "€ 9,95 " * size + "</p>",
    "bare prices in one parent": lambda size: "<h1>Fiets</h1><div class=price>" + "<b>5</b>" * size,
    "prices in three elements": lambda size: (
        "<h1>Fiets</h1><p class=price>" + "<i>€</i><b>5</b><sup>95</sup>" * size + "</p>"
    ),
    "numbers between cents": lambda size: "<h1>Fiets</h1><p class=price>" + "5<sup>95</sup>" * size + "</p>",
    "blocks of data": lambda size: _LD.format('{"@type":"Thing"}') * size,
    "list items": lambda size: "<ul>" + "<li><a href=/x>Jazz</a> 3 maart 20:00</li>" * size + "</ul>",
    "priced lists within lists": lambda size: (
        "<ul><li>Fiets € 5" * (size // 17) + "<li>10 stuks € 4" * size
    ),
    "blocks in blocks": lambda size: "<div class=event><h3>Jazz</h3>" * (size // 17) + "<p>3 maart € 5</p>" * size,
    "table rows": lambda size: "<table>" + "<tr><td>3 maart</td><td>Jazz</td></tr>" * size + "</table>",
    "definition lists": lambda size: "<dl>" + "<dt>Prijs<dd>€ 3" * size + "</dl>",
    "divs": lambda size: "<div>" * size,
    "balanced divs": lambda size: "<div>" * size + "</div>" * size,
    "attributes": lambda size: "<p " + " ".join(f"a{at}=1" for at in range(size)) + ">",
    "classes": lambda size: '<p class="' + "x " * size + '">€ 5</p>',
    "options": lambda size: "<select>" + "<option>€ 5" * size,
    "unclosed tags": lambda size: "<br" * size,
    "half comments": lambda size: "<!--" * size,
    "half scripts": lambda size: "<script" * size,
    "times": lambda size: "<time datetime=2027-03-04>4 maart</time>" * size,
    "links": lambda size: "<a href='?page=2'>2</a>" * size,
    "images": lambda size: "<img src=data:x data-src=/a.jpg>" * size,
    "entities": lambda size: "<p>" + "&amp;" * size,
    "endless entity": lambda size: "<h1>&#" + "9" * size + ";</h1><p>€ 5</p>",
}  # fmt: skip

TEXT: dict[str, Shape] = {
    "dates": lambda size: "3 maart 2027 20:00 uur " * size,
    "numbers": lambda size: "12 " * size,
    "digits": lambda size: "1" * size,
    "weekdays": lambda size: "maandag t/m " * size,
    "times of day": lambda size: "20.30 uur tot " * size,
    "amounts": lambda size: "€ 12,95 " * size,
    "dots and commas": lambda size: "1.000," * size,
    "blanks": lambda size: " " * size + "x",
    "half tags": lambda size: "<br" * size,
    "opening brackets": lambda size: "<" * size,
    "half scripts": lambda size: "<script " * size,
    "closing scripts": lambda size: "<script>" + "</script " * size,
    "endless entity": lambda size: "&#" + "7" * size,
    "entities": lambda size: "&lt;br" * size,
    "accents": lambda size: "é" * size,
    "in stock": lambda size: "op voorraad niet " * size,
}
