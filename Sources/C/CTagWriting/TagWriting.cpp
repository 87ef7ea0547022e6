#include "CTagWriting.h"

#include <aifffile.h>
#include <apetag.h>
#include <flacfile.h>
#include <id3v2tag.h>
#include <mp4atom.h>
#include <mp4file.h>
#include <mpegfile.h>
#include <oggflacfile.h>
#include <opusfile.h>
#include <textidentificationframe.h>
#include <vorbisfile.h>
#include <wavfile.h>
#include <wavpackfile.h>
#include <xiphcomment.h>
#if __has_include(<dsffile.h>)
#include <dsffile.h>
#endif

#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <string>

using namespace TagLib;

namespace {

String text(const char *bytes) { return String(bytes, String::UTF8); }

void set(Ogg::XiphComment *comment, const tonearm_tag &tag) {
    comment->removeFields(text(tag.name));
    if (tag.value) comment->addField(text(tag.name), text(tag.value));
}

void set(APE::Tag *ape, const tonearm_tag &tag) {
    ape->removeItem(text(tag.name));
    if (tag.value) ape->addValue(text(tag.name), text(tag.value), true);
}

void set(ID3v2::Tag *id3, const tonearm_tag &tag) {
    // Frames of other programs may have the name in lower case.
    const ID3v2::FrameList frames = id3->frameList("TXXX");
    for (ID3v2::Frame *frame : frames) {
        auto own = dynamic_cast<ID3v2::UserTextIdentificationFrame *>(frame);
        if (own && own->description().upper() == text(tag.name)) id3->removeFrame(frame);
    }
    if (!tag.value) return;
    auto frame = new ID3v2::UserTextIdentificationFrame(String::Latin1);
    frame->setDescription(text(tag.name));
    frame->setText(text(tag.value));
    id3->addFrame(frame);
}

void set(MP4::Tag *mp4, const tonearm_tag &tag) {
    // Programs differ in the case of the name; most of them write it in lower case.
    std::string lower = tag.name;
    for (char &letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    const String prefix = "----:com.apple.iTunes:";
    mp4->removeItem(prefix + text(tag.name));
    mp4->removeItem(prefix + text(lower.c_str()));
    if (tag.value) mp4->setItem(prefix + text(lower.c_str()), MP4::Item(StringList(text(tag.value))));
}

/// The tags to set.
struct Tags {
    const tonearm_tag *all;
    size_t count;

    template <typename Target>
    void set_in(Target *target) const {
        for (size_t index = 0; index < count; index++) set(target, all[index]);
    }
};

int result(bool is_saved) { return is_saved ? TONEARM_TAGS_WRITTEN : TONEARM_TAGS_FAILED; }

/// Whether the file begins like this. TagLib takes some files for RIFF or MPEG that are not.
bool begins(File &file, const char *bytes) {
    file.seek(0);
    return file.readBlock(4) == ByteVector(bytes, 4);
}

int write_flac(const char *path, const Tags &tags) {
    FLAC::File file(path);
    if (!file.isValid()) return TONEARM_TAGS_NOT_SUPPORTED;
    tags.set_in(file.xiphComment(true));
    return result(file.save());
}

template <typename OggFile>
int write_ogg(const char *path, const Tags &tags) {
    OggFile file(path);
    if (!file.isValid() || !file.tag()) return TONEARM_TAGS_NOT_SUPPORTED;
    tags.set_in(file.tag());
    return result(file.save());
}

int write_wav(const char *path, const Tags &tags) {
    RIFF::WAV::File file(path);
    // The sizes of RF64, BW64 and Wave64 are elsewhere.
    if (!file.isValid() || !begins(file, "RIFF")) return TONEARM_TAGS_NOT_SUPPORTED;
    tags.set_in(file.ID3v2Tag());
    return result(file.save());
}

int write_aiff(const char *path, const Tags &tags) {
    RIFF::AIFF::File file(path);
    if (!file.isValid() || !begins(file, "FORM")) return TONEARM_TAGS_NOT_SUPPORTED;
    tags.set_in(file.tag());
    return result(file.save());
}

int write_mp4(const char *path, const Tags &tags) {
    MP4::File file(path);
    if (!file.isValid() || !file.tag()) return TONEARM_TAGS_NOT_SUPPORTED;
    // TagLib does not move the offsets in an index of fragments.
    MP4::Atoms atoms(&file);
    if (atoms.find("moof") || atoms.find("mfra")) return TONEARM_TAGS_NOT_SUPPORTED;
    tags.set_in(file.tag());
    return result(file.save());
}

int write_mp3(const char *path, const Tags &tags) {
    MPEG::File file(path);
    // MP3 inside of WAV: bytes before the header would make it another file.
    if (!file.isValid() || begins(file, "RIFF")) return TONEARM_TAGS_NOT_SUPPORTED;
    // APE tags count before ID3 in players that read both: they must not have other values.
    if (file.hasAPETag()) tags.set_in(file.APETag());
    tags.set_in(file.ID3v2Tag(true));
    const int kinds = MPEG::File::ID3v2 | (file.hasAPETag() ? MPEG::File::APE : 0);
    return result(file.save(kinds, File::StripNone));
}

int write_wavpack(const char *path, const Tags &tags) {
    WavPack::File file(path);
    if (!file.isValid()) return TONEARM_TAGS_NOT_SUPPORTED;
    tags.set_in(file.APETag(true));
    return result(file.save());
}

int write_dsf(const char *path, const Tags &tags) {
#if __has_include(<dsffile.h>)
    DSF::File file(path);
    if (!file.isValid() || !file.tag()) return TONEARM_TAGS_NOT_SUPPORTED;
    tags.set_in(file.tag());
    return result(file.save());
#else
    (void)path, (void)tags;
    return TONEARM_TAGS_NOT_SUPPORTED;
#endif
}

}  // namespace

int tonearm_copy_owner(int original, int copy) {
    struct stat status;
    if (fstat(original, &status) != 0) return -1;
    return fchown(copy, status.st_uid, status.st_gid);
}

int tonearm_set_tags(const char *path, enum tonearm_tag_file kind, const tonearm_tag *all, size_t count) {
    const Tags tags = {all, count};
    switch (kind) {
    case TONEARM_TAG_FILE_FLAC: return write_flac(path, tags);
    case TONEARM_TAG_FILE_WAV: return write_wav(path, tags);
    case TONEARM_TAG_FILE_AIFF: return write_aiff(path, tags);
    case TONEARM_TAG_FILE_MP4: return write_mp4(path, tags);
    case TONEARM_TAG_FILE_MP3: return write_mp3(path, tags);
    case TONEARM_TAG_FILE_OGG_VORBIS: return write_ogg<Ogg::Vorbis::File>(path, tags);
    case TONEARM_TAG_FILE_OGG_OPUS: return write_ogg<Ogg::Opus::File>(path, tags);
    case TONEARM_TAG_FILE_OGG_FLAC: return write_ogg<Ogg::FLAC::File>(path, tags);
    case TONEARM_TAG_FILE_WAVPACK: return write_wavpack(path, tags);
    case TONEARM_TAG_FILE_DSF: return write_dsf(path, tags);
    }
    return TONEARM_TAGS_NOT_SUPPORTED;
}
