"""An S3-compatible store: objects by name in one bucket, asked by boto3 in threads."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from tidemill.pipeline.ports import StoreLost

AT_ONCE = 16
"""Requests under way: an object takes some 10 ms, most of it waiting."""
SECONDS = 10
LISTED_AT_ONCE = 1_000
ABSENT = frozenset({"NoSuchKey", "404", "NotFound"})

Result = TypeVar("Result")


class S3Store:
    """One folder of a bucket."""

    def __init__(
        self,
        bucket: str,
        prefix: str,
        *,
        url: str | None,
        region: str,
        key: str | None,
        secret: str | None,
    ) -> None:
        """Ask nothing yet; without a key boto3 finds the machine's own."""
        self._bucket = bucket
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self._client: Any = boto3.client(
            "s3", endpoint_url=url, region_name=region, aws_access_key_id=key, aws_secret_access_key=secret,
            config=Config(
                connect_timeout=SECONDS, read_timeout=SECONDS, max_pool_connections=AT_ONCE,
                retries={"total_max_attempts": 2, "mode": "standard"},
            ),
        )  # fmt: skip
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="s3")

    async def put(self, objects: Sequence[tuple[str, bytes]]) -> None:
        """Keep objects, several at a time."""
        put = partial(self._client.put_object, Bucket=self._bucket)
        await asyncio.gather(*(self._ask(partial(put, Key=self._prefix + name, Body=data)) for name, data in objects))

    async def get(self, names: Collection[str]) -> dict[str, bytes]:
        """Return the objects that there are."""
        found = await asyncio.gather(*(self._ask(partial(self._get, name)) for name in names))
        return {name: data for name, data in zip(names, found, strict=True) if data is not None}

    def _get(self, name: str) -> bytes | None:
        try:
            data: bytes = self._client.get_object(Bucket=self._bucket, Key=self._prefix + name)["Body"].read()
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in ABSENT:
                return None
            raise
        return data

    async def list(self, prefix: str) -> AsyncIterator[Sequence[tuple[str, datetime]]]:
        """Go through the objects whose names begin so."""
        after: dict[str, str] = {}
        while True:
            ask = partial(
                self._client.list_objects_v2, Bucket=self._bucket, Prefix=self._prefix + prefix,
                MaxKeys=LISTED_AT_ONCE, **after,
            )  # fmt: skip
            answer = await self._ask(ask)
            yield [
                (each["Key"].removeprefix(self._prefix), each["LastModified"]) for each in answer.get("Contents", ())
            ]
            if not answer.get("IsTruncated"):
                return
            after = {"ContinuationToken": answer["NextContinuationToken"]}

    async def remove(self, names: Sequence[str]) -> None:
        """Remove objects."""
        objects = [{"Key": self._prefix + name} for name in names]
        for start in range(0, len(objects), LISTED_AT_ONCE):
            going = {"Objects": objects[start : start + LISTED_AT_ONCE], "Quiet": True}
            await self._ask(partial(self._client.delete_objects, Bucket=self._bucket, Delete=going))

    async def close(self) -> None:
        """Let go of connections."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._client.close()

    async def _ask(self, call: Callable[[], Result]) -> Result:
        """Ask in a thread; whatever the store has against it means that it is away, in words without keys."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, call)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            msg = f"the store of pages refuses ({code}); check pages_store and its key"
            raise StoreLost(msg) from error
        except BotoCoreError as error:
            msg = f"the store of pages does not answer ({type(error).__name__})"
            raise StoreLost(msg) from error
