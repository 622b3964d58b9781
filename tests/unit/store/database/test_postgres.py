from tidemill.store.database.postgres import as_one


def test_one_statement_stays_as_it_is():
    assert as_one((("UPDATE a SET b = $1 WHERE c = $2", 2),)) == "UPDATE a SET b = $1 WHERE c = $2"


def test_several_are_one_with_their_parameters_numbered_on():
    first, second, third = (
        ("INSERT INTO a SELECT $1, $2", 2),
        ("UPDATE b SET c = $1", 1),
        ("UPDATE d SET e = $2, f = $1", 2),
    )
    assert as_one((first, second, third)) == (
        "WITH w0 AS (INSERT INTO a SELECT $1, $2), w1 AS (UPDATE b SET c = $3) UPDATE d SET e = $5, f = $4"
    )
