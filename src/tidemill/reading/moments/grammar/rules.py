"""Rules over tokens: each turns a few neighbours into one, until a single time is left.

Kinds are letters (see `tokens`): `n` number, `o` ordinal, `m` month, `w` weekday, `u` unit, `y` year, `c` clock, `d`
tomorrow and the like, `T` a time, `L` a length of time. A pattern is a regular expression over them.
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime

from tidemill.reading.moments.grammar.clock_rules import (
    clock_of_hour,
    clock_time,
    half_to,
    hour_pm,
    hour_unit,
    hour_with_part,
    hours_of_day,
    minutes_after,
    minutes_beside,
    minutes_to,
    pair_of_hours,
    spoken,
    spoken_quarters,
    zoned,
)
from tidemill.reading.moments.grammar.count_rules import (
    beside_weekday,
    closest,
    last_of_this,
    nth_after,
    nth_unit,
    of_the_month,
    week_number,
    weekdays_ago,
)
from tidemill.reading.moments.grammar.day_rules import (
    bare_year,
    day_and_month,
    in_year,
    merged_times,
    named_month,
    named_weekday,
    ordinal_day,
    pair_of_days,
    relative_day,
    right_now,
    tonight,
    weekday_and_day,
    with_year,
)
from tidemill.reading.moments.grammar.length_rules import (
    away_day,
    feast_then,
    half_unit,
    joined_lengths,
    length_after,
    length_ago,
    length_ahead,
    length_before,
    length_of_unit,
    quarter_of_hour,
    span_of,
    unit_ago,
    unit_and_a_half,
    unit_beside,
    week_later,
    weekday_ahead,
)
from tidemill.reading.moments.grammar.part_rules import by_then, edge_of_part, middle_of_month, part_of, rest_of_unit
from tidemill.reading.moments.grammar.range_rules import (
    date_to_day,
    day_to_date,
    lasting,
    pair_and_month,
    pairs_of_days,
    range_of_times,
    shared_month,
    until_then,
    weekdays,
)
from tidemill.reading.moments.grammar.token_values import plain
from tidemill.reading.moments.grammar.tokens import Token
from tidemill.reading.moments.grammar.turn_rules import (
    next_month,
    this_part,
    turned,
    turned_season,
    turned_unit,
    turned_units,
    unit_after_next,
    upcoming,
)
from tidemill.reading.moments.grammar.week_rules import (
    by_end_of_day,
    day_ahead,
    day_of_month,
    hour_and_minutes,
    minutes_to_noon,
    month_after_next,
    named_year,
    quarter_beside,
    since_year,
    twelve,
    unit_before_last,
    weekday_of_week,
    weekend_of_feast,
    weeks_on,
    year_of_season,
)
from tidemill.reading.moments.grammar.when import TimeConstraints

Rule = Callable[[Sequence[Token], datetime], Token | None]
RULES: Sequence[tuple[re.Pattern[str], Rule]] = tuple(
    (re.compile(pattern), rule)
    for pattern, rule in (
        ("u[%AB-]c", quarter_beside), ("^n-c$", minutes_to_noon), ("nc", twelve), ("^uB<$", unit_before_last),
        ("^mA>$", month_after_next), ("^wi?un$", weekday_of_week), ("^uy$", named_year),
        ("b3u|bE", by_end_of_day), ("(?<=\\^)[no]&[no]my?", shared_month),
        ("n[uU]&n?H(?![nc])", unit_and_a_half), ("x-x$", pairs_of_days),
        ("^Hm$", middle_of_month), ("n&?n?H[uU]", half_unit), ("Hn?[uU]", half_unit),
        ("(?<=[iP])nU|nU(?=[gfAB])|nU(?=&?n[uU])|(?<=L)nU", length_of_unit),
        ("nk|k|Qn?u", quarter_of_hour), ("n?l", span_of), ("@L", plain),
        ("[no]-[no]my?", shared_month), ("m[no]-[no]y?", shared_month), ("xmy?|mxy?", pair_and_month),
        ("(?<=[Tw])x|x(?=[apdt])", pair_of_hours),
        ("n[w][gf]|inw", weekdays_ago),
        ("[no]-?m(?![no])|[no]m|m[no](?!-?[acpuOn])", day_and_month), ("w[no](?![acpuUO:mP]|-[nc])", weekday_and_day),
        ("(?<![\\^n@Tc])n-[nc](?=[api=T]|$)", minutes_to), ("nA[nc](?=[ap]|$)", minutes_after),
        ("\\^?N-T$", until_then),
        ("(?<=ou)\\^y$", in_year),
        ("H[P%][nc]|H[nc]", half_to), ("[nQ][P%B][nc]|[QL][P%BA-][nc](?!u)", minutes_beside),

        ("nUn$", hour_and_minutes), ("n-?n(?=[ap])", spoken), ("n-?n(?=[i@^T]|$)", spoken_quarters),
        ("[nc]i?[ap]|nO[ap]", hour_pm),
        ("[\\^A]?[nc]-[nc](?![mu])[UO]?|\\^[nc][&@][nc](?![mu])[UO]?|A[nc]&?B[nc](?![mu])[UO]?", hours_of_day),
        ("x$", pair_of_days), ("x(?=@|c|T)", pair_of_days),
        ("[><%][nv][uU]", turned_units), ("}nu|n}u", upcoming),
        ("@nu", hour_unit), ("@?nU|@?cU|@[ny](?![mu])|nO|cO|@c", clock_of_hour),
        ("^i?un(?:[i^]?y)?$", week_number), ("^w&w$", weekdays), ("^u[gf]$", unit_ago),
        ("^[uw]A>$", unit_after_next),
        ("[nv]u", length_of_unit), ("L&?L", joined_lengths), ("Lg|gL|^BL$", length_ago), ("Lf", length_ahead),
        ("^FL[A^]T|^[A^]?TFL|^FLAc|^A?cFL", lasting),
        ("[iF]@?L(?<!wiL)(?<!wPL)(?<!diL)(?<!dPL)|^[PA]L$|^PL", length_ahead),
        ("[><]m", next_month), ("m", named_month), ("Ty", with_year), ("(?<=[u123])y", bare_year),
        ("o<[wu][i^]?T(?!y)|<w[i^]T(?!y)|<wT$|<u[i^]?T(?!y)|o[wu][i^]?T(?!y)|ou$", nth_unit),
        ("^ou$", of_the_month), ("^o?<uu$|^ouu$", last_of_this), ("^u[AB]T$", unit_beside),
        ("owAT(?!y)", nth_after), ("^w[AB]T$", beside_weekday),
        ("[>=<}%]u|^u[><]$", turned_unit), ("iyD?", in_year),
        ("d", relative_day), ("3?t", tonight), ("^N$", right_now), ("iT", plain),
        ("r=?u", rest_of_unit), ("[13]i?T", edge_of_part), ("[123]@?(?:T|u)|E", part_of), ("bT", by_then),
        ("[>=<]S", turned_season), ("o?CT-T", closest),
        ("w", named_weekday), ("^LT$", weeks_on), ("T[iP]L$", weekday_ahead), ("T[iP]L$", day_ahead),
        ("^PT$", plain), ("[no]T", day_of_month), ("y(?=T)", bare_year),
        ("=T(?=.)|(?<=.)=T", this_part), ("[>=<]T", turned), ("T[>=<]", turned), ("T\\^y$", year_of_season),
        ("L[A^]T", length_after), ("LBT", length_before), ("^Tu$", weekend_of_feast), ("^Tu$", week_later),
        ("^\\^y$", since_year),
        ("TW|WT", feast_then), ("W", away_day),
        ("o(?![uw])", ordinal_day),
        ("(?<=T)-c$|c", clock_time),
        ("[\\^A]?n-T", day_to_date), ("[\\^A]?T-n", date_to_day),
        ("T[@^A]?i?T", merged_times), ("nT|T@?n$", hour_with_part),
        ("Tz", zoned), ("[\\^A]?T-T|\\^T&T", range_of_times),
        ("[@F-]T$", plain), ("^[\\^A]T$", plain),
    )
)  # fmt: skip
"""Which neighbours become one, the surest first."""
_MOST_STEPS = 60


def reduced(tokens: list[Token], now: datetime) -> TimeConstraints | None:
    """The one time that all tokens together mean; None when they do not come down to one."""
    for _ in range(_MOST_STEPS):
        if len(tokens) == 1 and tokens[0].kind == "T":
            when: TimeConstraints = tokens[0].value
            return when
        step = _step(tokens, now)
        if step is None:
            return None
        tokens = step
    return None


def _step(tokens: list[Token], now: datetime) -> list[Token] | None:
    kinds = "".join(token.kind for token in tokens)
    for pattern, rule in RULES:
        for match in pattern.finditer(kinds):
            made = rule(tokens[match.start() : match.end()], now)
            if made is not None:
                return [*tokens[: match.start()], made, *tokens[match.end() :]]
    return None
