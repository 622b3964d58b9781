"""Code written for other tools, run as adapters: page objects of web-poet and spiders of Scrapy."""
