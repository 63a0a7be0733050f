"""Makes the documents beside it, with reportlab 5, pikepdf 10 and pillow.

    python make.py
"""

import os
import zlib

import pikepdf
import reportlab
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen import canvas

FONT = os.path.join(os.path.dirname(reportlab.__file__), "fonts", "Vera.ttf")
pdfmetrics.registerFont(TTFont("Vera", FONT))


def document(name, draw, pages=1):
    page = canvas.Canvas(name, pagesize=A4, invariant=1)
    for number in range(1, pages + 1):
        draw(page, number)
        page.showPage()
    page.save()


def standard(page, _):
    lines = [
        ("Helvetica", "Plain words in Helvetica."),
        ("Times-Roman", "The quick brown fox in Times."),
        ("Courier", "fn main() in Courier;"),
    ]
    for index, (font, text) in enumerate(lines):
        page.setFont(font, 14)
        page.drawString(72, 760 - 40 * index, text)


def embedded(page, _):
    page.setFont("Vera", 14)
    page.drawString(72, 760, "Grüße aus Köln, naïve café, déjà vu")


def columns(page, _):
    page.setFont("Helvetica", 11)
    for x, word in [(60, "left"), (320, "right")]:
        for line in range(24):
            page.drawString(x, 760 - 16 * line, f"{word} column line {line + 1} has some words")


def rotated(page, _):
    page.setPageRotation(90)
    page.setFont("Helvetica", 14)
    page.drawString(72, 400, "A page that was turned.")


def many(page, number):
    page.setFont("Helvetica", 12)
    page.drawString(72, 700, f"This is page number {number} of many.")


def scan(page, _):
    Image.new("RGB", (200, 100), "white").save("scan.png")
    page.drawImage("scan.png", 0, 0, 600, 800)
    os.remove("scan.png")


document("standard.pdf", standard)
document("embedded.pdf", embedded)
document("columns.pdf", columns)
document("rotated.pdf", rotated)
document("many.pdf", many, pages=60)
document("scan.pdf", scan)

with pikepdf.open("many.pdf") as pdf:
    generate = pikepdf.ObjectStreamMode.generate
    pdf.save("objstm.pdf", object_stream_mode=generate, deterministic_id=True)

for name, options in {
    "rc4-open": dict(user="", R=3, aes=False, metadata=False),
    "rc4-locked": dict(user="secret", R=3, aes=False, metadata=False),
    "aes128-open": dict(user="", R=4, aes=True),
    "aes256-open": dict(user="", R=6, aes=True),
    "aes256-locked": dict(user="secret", R=6, aes=True),
}.items():
    with pikepdf.open("standard.pdf") as pdf:
        pdf.save(f"{name}.pdf", encryption=pikepdf.Encryption(owner="owner", **options))

# Two gigabytes of blanks, packed twice.
with pikepdf.open("standard.pdf") as pdf:
    blanks = zlib.compressobj(9)
    packed = b"".join(blanks.compress(b" " * 2**20) for _ in range(2**11)) + blanks.flush()
    content = pikepdf.Stream(pdf, b"")
    flate = pikepdf.Name.FlateDecode
    content.write(zlib.compress(packed, 9), filter=pikepdf.Array([flate, flate]))
    pdf.pages[0].Contents = content
    preserve = pikepdf.StreamDecodeLevel.none
    pdf.save("bomb.pdf", stream_decode_level=preserve, compress_streams=False, deterministic_id=True)
