-- Why a page was skipped or failed is kept as a code and a detail instead of a sentence. What is no sentence of
-- the crawler is one of the client's or of a reader's, and stays as it is.
ALTER TABLE crawl_pages ADD COLUMN reason_code TEXT COLLATE "C";
ALTER TABLE crawl_pages RENAME COLUMN reason TO reason_detail;
UPDATE crawl_pages SET
    reason_code = CASE
        WHEN reason_detail = 'needs_javascript' THEN 'needs_javascript'
        WHEN reason_detail = 'the page asks not to be indexed (`noindex`)' THEN 'noindex'
        WHEN reason_detail = 'the server asks that the page is not indexed (`X-Robots-Tag: noindex`)' THEN 'noindex_header'
        WHEN reason_detail = 'the page has no text' THEN 'empty'
        WHEN reason_detail = '`robots.txt` does not allow it' THEN 'disallowed'
        WHEN reason_detail = 'it redirects to itself' THEN 'redirects_to_itself'
        WHEN reason_detail = 'its address is no URL' THEN 'no_url'
        WHEN reason_detail = 'it could not be read' THEN 'not_read'
        WHEN reason_detail = 'not a page, text or PDF' THEN 'other_type'
        WHEN reason_detail = 'not visited: the site had stopped answering' THEN 'site_down'
        WHEN reason_detail LIKE 'the same content as `%`' THEN 'same_content'
        WHEN reason_detail LIKE 'a copy of `%`, its canonical address' THEN 'canonical_copy'
        WHEN reason_detail LIKE 'it redirects to another host: `%`' THEN 'redirects_elsewhere'
        WHEN reason_detail LIKE 'it redirects to `%`' THEN 'redirects'
        WHEN reason_detail LIKE 'there is no such page (the server answered %)' THEN 'gone'
        WHEN reason_detail LIKE 'not a page, text or PDF, but `%`' THEN 'other_type'
        WHEN reason_detail LIKE 'its path has more than % parts, which looks endless' THEN 'long_path'
        WHEN reason_detail LIKE '`%` repeats in its path, which looks endless' THEN 'repeating_path'
        WHEN reason_detail LIKE 'more than % links away from the start page' THEN 'too_far'
        WHEN reason_detail LIKE 'not visited: the crawl reached its limit of % pages' THEN 'page_limit'
        WHEN reason_detail LIKE 'not visited: the crawl reached its limit of % minutes' THEN 'time_limit'
        WHEN reason_detail IN (
            'not a page: its address names an image',
            'not a page: its address names a video or sound',
            'not a page: its address names an archive',
            'not a page: its address names a program',
            'not a page: its address names a style sheet',
            'not a page: its address names a script',
            'not a page: its address names a font',
            'not a page: its address names an office document',
            'not a page: its address names data',
            'not a page: its address names a signature'
        ) THEN 'names_file'
        WHEN reason_detail LIKE 'the server answered %' AND http_status IS NOT NULL THEN 'refused'
        WHEN http_status IS NULL THEN 'not_fetched'
        ELSE 'unreadable'
    END,
    reason_detail = CASE
        WHEN reason_detail = 'needs_javascript' THEN NULL
        WHEN reason_detail = 'the page asks not to be indexed (`noindex`)' THEN NULL
        WHEN reason_detail = 'the server asks that the page is not indexed (`X-Robots-Tag: noindex`)' THEN NULL
        WHEN reason_detail = 'the page has no text' THEN NULL
        WHEN reason_detail = '`robots.txt` does not allow it' THEN NULL
        WHEN reason_detail = 'it redirects to itself' THEN NULL
        WHEN reason_detail = 'its address is no URL' THEN NULL
        WHEN reason_detail = 'it could not be read' THEN NULL
        WHEN reason_detail = 'not a page, text or PDF' THEN NULL
        WHEN reason_detail = 'not visited: the site had stopped answering' THEN NULL
        WHEN reason_detail LIKE 'the same content as `%`'
            THEN substr(reason_detail, 22, length(reason_detail) - 22)
        WHEN reason_detail LIKE 'a copy of `%`, its canonical address'
            THEN substr(reason_detail, 12, length(reason_detail) - 35)
        WHEN reason_detail LIKE 'it redirects to another host: `%`'
            THEN substr(reason_detail, 32, length(reason_detail) - 32)
        WHEN reason_detail LIKE 'it redirects to `%`'
            THEN substr(reason_detail, 18, length(reason_detail) - 18)
        WHEN reason_detail LIKE 'there is no such page (the server answered %)'
            THEN substr(reason_detail, 44, length(reason_detail) - 44)
        WHEN reason_detail LIKE 'not a page, text or PDF, but `%`'
            THEN substr(reason_detail, 31, length(reason_detail) - 31)
        WHEN reason_detail LIKE 'its path has more than % parts, which looks endless'
            THEN substr(reason_detail, 24, length(reason_detail) - 50)
        WHEN reason_detail LIKE '`%` repeats in its path, which looks endless'
            THEN substr(reason_detail, 2, length(reason_detail) - 43)
        WHEN reason_detail LIKE 'more than % links away from the start page'
            THEN substr(reason_detail, 11, length(reason_detail) - 41)
        WHEN reason_detail LIKE 'not visited: the crawl reached its limit of % pages'
            THEN substr(reason_detail, 45, length(reason_detail) - 50)
        WHEN reason_detail LIKE 'not visited: the crawl reached its limit of % minutes'
            THEN substr(reason_detail, 45, length(reason_detail) - 52)
        WHEN reason_detail = 'not a page: its address names an image' THEN 'image'
        WHEN reason_detail = 'not a page: its address names a video or sound' THEN 'media'
        WHEN reason_detail = 'not a page: its address names an archive' THEN 'archive'
        WHEN reason_detail = 'not a page: its address names a program' THEN 'program'
        WHEN reason_detail = 'not a page: its address names a style sheet' THEN 'style_sheet'
        WHEN reason_detail = 'not a page: its address names a script' THEN 'script'
        WHEN reason_detail = 'not a page: its address names a font' THEN 'font'
        WHEN reason_detail = 'not a page: its address names an office document' THEN 'office'
        WHEN reason_detail = 'not a page: its address names data' THEN 'data'
        WHEN reason_detail = 'not a page: its address names a signature' THEN 'signature'
        WHEN reason_detail LIKE 'the server answered %' AND http_status IS NOT NULL
            THEN CAST(http_status AS TEXT)
        ELSE reason_detail
    END
    WHERE reason_detail IS NOT NULL;
