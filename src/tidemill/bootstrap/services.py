"""Build the registry of outside services: which of them this installation has set up."""

from tidemill.bootstrap.listeners import Listeners
from tidemill.core.services.degradation import Service
from tidemill.pipeline.ports import Clock
from tidemill.settings import Settings
from tidemill.store.database.database import Database
from tidemill.store.services.status import Services


def build_services(settings: Settings, database: Database, clock: Clock, announce: Listeners) -> Services:
    """Build the registry, which also listens for trouble with the database."""
    services = Services(database, clock, announce, missing_services(settings))
    announce.add(services.hear)
    return services


def missing_services(settings: Settings) -> dict[Service, str]:
    """Return the services that are not set up; '' stands for the default advice on how to."""
    set_up = {
        Service.SCRAPINGBEE: settings.scrapingbee_key,
        Service.APIFY: settings.apify_token,
        Service.LLM: settings.llm_key,
        Service.SEARCH: settings.search_key,
        Service.GEOCODER: settings.geocoder_url,
        Service.REDIS: settings.redis,
        Service.BROKER: settings.broker,
        Service.BEAT: settings.broker,
        Service.SLACK: settings.slack_webhook,
        Service.MAIL: settings.mail_server,
        Service.ALERT_WEBHOOK: settings.alert_webhook_url,
        Service.APPRISE: settings.apprise_urls,
        Service.DEADMAN: settings.deadman_url,
    }
    return {service: "" for service, value in set_up.items() if not value}
