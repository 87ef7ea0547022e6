"""Makes the music of the tests: a few albums with tags and covers, in FLAC, by ffmpeg."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LONG_TITLE = "Concerto for an Exceptionally Long Title in Seven Movements, the Third of Which Never Ends at All"
#: Folder, album, artist, genre, date, and titles. An artist in a title's pair is the track's own.
ALBUMS = [
    ("Björk/Homogenic", "Homogenic", "Björk", "Electronic", "1997",
     ["Hunter", "Jóga", "Unravel", "Bachelorette", "All Neon Like", "5 Years"]),
    ("Björk/Vespertine", "Vespertine", "Björk", "Electronic", "2001", ["Hidden Place", "Cocoon", "Undo"]),
    ("Die Ärzte/Geräusch", "Geräusch", "Die Ärzte", "Rock", "2003", ["Schöne Grüße", "Übermäßig fröhlich"]),
    ("Various/Summer", "Summer Hits", "Various Artists", "Pop", "2012",
     [("Sun", "Alpha"), ("Sand", "Beta"), (LONG_TITLE, "The Long Name Philharmonic Orchestra")]),
]
#: Seconds of each track.
LENGTH = 60


def make_music(folder):
    """Writes all of it below `folder`, and a track without tags as `untagged.flac`."""
    jobs = [job for album in ALBUMS for job in album_jobs(Path(folder), album)]
    jobs.append((Path(folder) / "Loose" / "untagged.flac", {}, 30))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda job: write_track(*job), jobs))
    for number, (name, *_) in enumerate(ALBUMS[:3]):
        draw_cover(Path(folder) / name / "cover.jpg", ["#8f3f71", "#076678", "#b57614"][number])


def album_jobs(root, album):
    name, title, artist, genre, date, titles = album
    for number, entry in enumerate(titles, 1):
        track, performer = entry if isinstance(entry, tuple) else (entry, artist)
        tags = {"title": track, "artist": performer, "album": title, "album_artist": artist, "genre": genre,
                "date": date, "track": str(number)}
        yield root / name / f"{number:02}.flac", tags, number * 20


def write_track(file, tags, pitch):
    file.parent.mkdir(parents=True, exist_ok=True)
    words = [word for key, value in tags.items() for word in ("-metadata", f"{key}={value}")]
    ffmpeg("-f", "lavfi", "-i", f"sine=frequency={200 + pitch}:sample_rate=44100:duration={LENGTH}", "-ac", "2",
           "-sample_fmt", "s16", *words, str(file))


def draw_cover(file, colour):
    ffmpeg("-f", "lavfi", "-i", f"color={colour}:size=300x300,drawgrid=w=60:h=60:c=white@0.4", "-frames:v", "1",
           str(file))


def ffmpeg(*words):
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-threads", "1", *words], check=True, timeout=60,
                   stdin=subprocess.DEVNULL)
