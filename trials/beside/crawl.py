"""Crawls the site of one host with Scrapy, and prints how many pages it read and how long that took.

    crawl.py START
"""

import json
import sys
import time
from urllib.parse import urlsplit

from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

START = sys.argv[1]


class Reader(CrawlSpider):
    """Follows the links of a site, and keeps the text of each page, as a program that indexes it would."""

    name = "reader"
    start_urls = [START]
    allowed_domains = [urlsplit(START).hostname]
    rules = [Rule(LinkExtractor(), callback="read", follow=True)]
    texts = []

    def parse_start_url(self, response):
        return self.read(response)

    def read(self, response):
        if isinstance(response, HtmlResponse):
            self.texts.append(" ".join(response.xpath("//body//text()").getall()))
        return []


# The time of the crawl, without that of the interpreter and its imports.
begun = time.monotonic()
process = CrawlerProcess({"LOG_LEVEL": "ERROR", "ROBOTSTXT_OBEY": True, "TELNETCONSOLE_ENABLED": False})
process.crawl(Reader)
process.start()
seconds = time.monotonic() - begun
print(json.dumps({"pages": len(Reader.texts), "characters": sum(map(len, Reader.texts)), "seconds": seconds}))
