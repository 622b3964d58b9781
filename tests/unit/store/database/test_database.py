import pytest

from tidemill.pipeline.ports import StoreError
from tidemill.store.database.database import open_database


@pytest.mark.parametrize("url", ["", "nonsense", "mysql://root:secret@db/x", "sqlite://", "sqlite:///:memory:", "://"])
def test_an_address_that_cannot_be_a_database_is_refused_without_repeating_its_secrets(url):
    with pytest.raises(StoreError) as refusal:
        open_database(url)
    assert "sqlite:///" in str(refusal.value)
    assert "secret" not in str(refusal.value)
