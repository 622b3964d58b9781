"""Markets in any country: their country, what rents are in, and what belongs to them beside their city."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"

AREAS = {
    "nyc": "100;101;102;103;104;110;111;112;113;114;116;New York City;Manhattan;Brooklyn;Queens;Bronx;The Bronx;"
    "Staten Island;Long Island City;Astoria;Flushing;Forest Hills;Jamaica;Ridgewood;Sunnyside;Woodside;Elmhurst;"
    "Jackson Heights;Rego Park;Bayside;Corona;Kew Gardens;Woodhaven;Ozone Park;Far Rockaway",
    "boston": "021;022;Allston;Brighton;Dorchester;Roxbury;Jamaica Plain;South Boston;East Boston;Charlestown;"
    "Roslindale;West Roxbury;Hyde Park;Mattapan;Back Bay;Brookline;024",
    "dc": "200;202;203;204;205;Washington DC;Washington, D.C.",
    "philadelphia": "191",
    "pittsburgh": "152",
    "baltimore": "212",
    "newark": "071",
    "jersey-city": "073",
    "cambridge": "02138;02139;02140;02141;02142",
    "arlington-va": "222",
    "bryn-mawr": "19010",
    "hoboken": "07030",
    "stamford": "069",
    "new-haven": "065",
    "providence": "029",
    "richmond": "232",
    "charlotte": "282",
    "raleigh": "276",
    "hartford": "061",
}
"""As they were when this step was written; later ones are an operator's."""


def upgrade() -> None:
    """Add the columns; the seeded markets get their areas."""
    op.add_column("market_configs", sa.Column("country", sa.Text, nullable=False, server_default="US"))
    op.add_column("market_configs", sa.Column("currency", sa.Text, nullable=False, server_default="USD"))
    op.add_column("market_configs", sa.Column("area", sa.Text, nullable=False, server_default=""))
    fill = sa.text("UPDATE market_configs SET area = :area WHERE id = :id AND area = ''")
    for market, area in AREAS.items():
        op.get_bind().execute(fill, {"id": market, "area": area})


def downgrade() -> None:
    """Drop them."""
    for name in ("area", "currency", "country"):
        op.drop_column("market_configs", name)
