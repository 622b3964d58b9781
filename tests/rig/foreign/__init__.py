"""Code in the usual styles of web-poet and Scrapy, as people have it before they know Tidemill."""
