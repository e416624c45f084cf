#!/usr/bin/env python3
"""Writes files whose text is known, for `cargo trial eval formats`: `trials/write-formats.py FOLDER`.

Twenty documents and twenty tables are made up from fixed seeds. LibreOffice, pandoc and Python's `email` write them in
each format, and beside each file lies its text (`FILE.known`). Needs `soffice` and `pandoc`:

    apt-get install --no-install-recommends libreoffice-core libreoffice-writer libreoffice-calc libreoffice-impress pandoc
"""

import csv
import html
import random
import shutil
import subprocess
import sys
import tempfile
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

COUNT = 20
# Words of several languages and scripts, with the signs that encodings lose first.
WORDS = """harbour tide berth lantern quay rope anchor signal keeper island ferry storm pilot chart mooring vessel
Fähre Brücke Öffnung Straße größer Übergang café naïve façade garçon señor mañana château Łódź żagiel Škoda čeština
Привет гавань маяк лодка Ελλάδα λιμάνι φάρος København smørrebrød ångström İstanbul dağ Tiếng Việt 東京 港口""".split()


def sentence(rng):
    words = [rng.choice(WORDS) for _ in range(rng.randint(6, 14))]
    if rng.random() < 0.4:
        words.insert(rng.randrange(len(words)), rng.choice(["12.50", "3,141", "2026-04-01", "+49 40 1234", "§ 7", "98 %", "№ 5"]))
    return " ".join(words).capitalize() + rng.choice(".?!")


def table(rng, rows):
    columns = rng.randint(3, 6)
    head = rng.sample(["Berth", "Price", "Length", "Keeper", "Opened", "Remark", "Größe", "Цена"], columns)
    body = [[cell(rng) for _ in range(columns)] for _ in range(rows)]
    return [head, *body]


def cell(rng):
    kind = rng.random()
    if kind < 0.3:
        return str(rng.randint(1, 9_999))
    if kind < 0.4:
        return f"{rng.randint(1, 99)}.{rng.randint(1, 9)}5"
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 4)))


class Document:
    """Sections with paragraphs, a list and a table."""

    def __init__(self, number):
        rng = random.Random(f"document {number}")
        self.title = f"Guide {number} to the harbour"
        self.sections = [
            {
                "heading": " ".join(rng.choice(WORDS) for _ in range(3)),
                "paragraphs": [" ".join(sentence(rng) for _ in range(rng.randint(2, 4))) for _ in range(2)],
                "items": [sentence(rng) for _ in range(3)],
                "table": table(rng, 4),
            }
            for _ in range(rng.randint(2, 4))
        ]

    def text(self):
        lines = [self.title]
        for section in self.sections:
            lines += [section["heading"], *section["paragraphs"], *section["items"]]
            lines += [" ".join(row) for row in section["table"]]
        return "\n".join(lines)

    def html(self):
        out = [f"<!doctype html><html><head><meta charset=utf-8><title>{self.title}</title></head><body><h1>{self.title}</h1>"]
        for section in self.sections:
            out.append(f"<h2>{html.escape(section['heading'])}</h2>")
            out += [f"<p>{html.escape(text)}</p>" for text in section["paragraphs"]]
            out.append("<ul>" + "".join(f"<li>{html.escape(item)}</li>" for item in section["items"]) + "</ul>")
            rows = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in section["table"]]
            out.append("<table border=1>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>")
        return "\n".join([*out, "</body></html>"])

    def message(self, number):
        mail = EmailMessage(policy=SMTP)
        mail["From"] = "Ada Brennan <ada@harbour.example>"
        mail["To"] = "Jörg Ångström <jorg@harbour.example>"
        mail["Date"] = "Mon, 02 Mar 2026 09:00:00 +0100"
        mail["Subject"] = self.title
        body = self.text().split("\n", 1)[1]
        encoding = ["quoted-printable", "base64", "8bit"][number % 3]
        mail.set_content(body, charset="utf-8", cte=encoding)
        if number % 4 == 1:
            mail.add_alternative(self.html(), subtype="html")
        extra = ""
        if number % 4 == 2:
            extra = f"Attached {number}: the pilot waits at buoy {number}."
            mail.add_attachment(extra.encode(), maintype="text", subtype="plain", filename="note.txt")
        date = "Date 2026-03-02T09:00:00+01:00"
        extra = f"Attachment note.txt {extra}" if extra else ""
        known = f"{date} From Ada Brennan ada@harbour.example To Jörg Ångström jorg@harbour.example\n{self.text()}\n{extra}"
        return mail.as_bytes(), known


def office(target, filter_, sources, work, infilter=None):
    """Has LibreOffice convert files; yields each with its source."""
    arguments = ["soffice", f"-env:UserInstallation=file://{work}/profile", "--headless"]
    if infilter:
        arguments.append(f"--infilter={infilter}")
    folder = work / f"to-{target}-{len(list(work.iterdir()))}"
    arguments += ["--convert-to", filter_, "--outdir", str(folder), *map(str, sources)]
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=900)
    for source in sources:
        made = folder / f"{source.stem}.{target}"
        if not made.exists():
            sys.exit(f"LibreOffice made no {made.name}")
        yield source, made


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: write-formats.py FOLDER")
    target = Path(sys.argv[1]).resolve() / "known"
    target.mkdir(parents=True, exist_ok=True)
    known = {}

    def keep(made, program, text):
        place = target / f"{program}-{made.name}"
        shutil.copyfile(made, place)
        Path(f"{place}.known").write_text(text, encoding="utf-8")

    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        pages, sheets, slides = [], [], []
        for number in range(COUNT):
            document = Document(number)
            page = work / f"guide{number:02}.html"
            page.write_text(document.html(), encoding="utf-8")
            known[page] = document.text()
            pages.append(page)

            rows = table(random.Random(f"table {number}"), 30)
            sheet = work / f"fees{number:02}.csv"
            with sheet.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, delimiter=",;\t"[number % 3]).writerows(rows)
            known[sheet] = "\n".join(" ".join(row) for row in rows)
            keep(sheet, "python", known[sheet])
            # LibreOffice is told what separates the fields: comma, semicolon or tab.
            sheets.append((sheet, [44, 59, 9][number % 3]))

            message, text = document.message(number)
            mail = work / f"mail{number:02}.eml"
            mail.write_bytes(message)
            keep(mail, "python", text)

            # Slides hold a few lines each.
            talk = work / f"talk{number:02}.md"
            lines = [f"% {document.title}", ""]
            for section in document.sections:
                lines += [f"# {section['heading']}", "", *(f"- {item}" for item in section["items"]), ""]
            talk.write_text("\n".join(lines), encoding="utf-8")
            known[talk] = "\n".join(
                [document.title] + [line for section in document.sections for line in [section["heading"], *section["items"]]]
            )
            made = work / f"talk{number:02}.pptx"
            subprocess.run(["pandoc", str(talk), "-f", "markdown-smart", "-o", str(made)], check=True)
            known[made] = known[talk]
            slides.append(made)
            book = work / f"guide{number:02}.epub"
            subprocess.run(["pandoc", str(page), "-o", str(book)], check=True)
            keep(book, "pandoc", known[page])

        for source, made in office("odt", "odt:writer8", pages, work, "HTML (StarWriter)"):
            keep(made, "libreoffice", known[source])
            known[made] = known[source]
        texts = [path for path in known if path.suffix == ".odt"]
        for source, made in office("rtf", "rtf", texts, work):
            keep(made, "libreoffice", known[source])
        for separator in (44, 59, 9):
            some = [sheet for sheet, own in sheets if own == separator]
            for format_, filter_ in [("xlsx", "xlsx:Calc MS Excel 2007 XML"), ("xls", "xls:MS Excel 97"), ("ods", "ods:calc8")]:
                # UTF-8 from the first line on.
                for source, made in office(format_, filter_, some, work, f"CSV:{separator},34,76,1"):
                    keep(made, "libreoffice", known[source])
        # Through LibreOffice's own form, so that it writes the slides anew.
        drawn = [(made, known[source]) for source, made in office("odp", "odp", slides, work)]
        texts = {made: text for made, text in drawn}
        for source, made in office("pptx", "pptx:Impress MS PowerPoint 2007 XML", list(texts), work):
            keep(made, "libreoffice", texts[source])
    print(f"wrote {len(list(target.glob('*.known')))} files and their texts to {target}")


if __name__ == "__main__":
    main()
