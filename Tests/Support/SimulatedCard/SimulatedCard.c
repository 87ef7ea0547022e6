#include "SimulatedCard.h"

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct simulated_card {
    snd_pcm_ioplug_t plugin;
    /// A device may be closed after its card was freed: the one that comes last frees the memory.
    bool is_open, is_freed;
    bool hears_when_polled, failing, refuses_silence, stutters, stutter;
    snd_pcm_uframes_t in_buffer, position;
    /// Frames that left the buffer and are not heard yet, at most `latency`; silence behind them pushes them out.
    snd_pcm_uframes_t in_flight, silence_in_flight, latency;
    simulated_parameters parameters;
    simulated_abilities abilities;
    unsigned positions[8];
    size_t written_bytes, heard;
    int starts;
    uint8_t written[simulated_capacity];
};

static void release(simulated_card *card) {
    close(card->plugin.poll_fd);
    free(card);
}

static int on_close(snd_pcm_ioplug_t *plugin) {
    simulated_card *card = plugin->private_data;
    card->is_open = false;
    if (card->is_freed) release(card);
    return 0;
}

static int on_start(snd_pcm_ioplug_t *plugin) {
    ((simulated_card *)plugin->private_data)->starts++;
    return 0;
}

static int on_stop(snd_pcm_ioplug_t *plugin) {
    simulated_card *card = plugin->private_data;
    // Like USB cards: frames in transfer are heard after a drain, and lost when the clock stops in another way.
    if (plugin->state == SND_PCM_STATE_DRAINING) card->heard += card->in_flight;
    card->in_flight = card->silence_in_flight = 0;
    return 0;
}

static int on_prepare(snd_pcm_ioplug_t *plugin) {
    simulated_card *card = plugin->private_data;
    card->position = card->in_buffer = card->in_flight = card->silence_in_flight = 0;
    card->failing = false;
    return 0;
}

static int on_delay(snd_pcm_ioplug_t *plugin, snd_pcm_sframes_t *delay) {
    simulated_card *card = plugin->private_data;
    if (card->failing) return -EPIPE;
    *delay = card->in_buffer + card->in_flight;
    return 0;
}

static int on_resume(snd_pcm_ioplug_t *plugin) {
    snd_pcm_ioplug_set_state(plugin, SND_PCM_STATE_RUNNING);
    return on_prepare(plugin);
}

static snd_pcm_sframes_t on_pointer(snd_pcm_ioplug_t *plugin) {
    simulated_card *card = plugin->private_data;
    return card->failing ? -EPIPE : (snd_pcm_sframes_t)card->position;
}

static snd_pcm_sframes_t on_transfer(
    snd_pcm_ioplug_t *plugin, const snd_pcm_channel_area_t *areas, snd_pcm_uframes_t offset, snd_pcm_uframes_t frames
) {
    simulated_card *card = plugin->private_data;
    if (card->stutters) {
        card->stutter = !card->stutter;
        if (!card->stutter) return -EAGAIN;
        frames = (frames + 1) / 2;
    }
    size_t bytes = frames * areas->step / 8;
    if (card->written_bytes + bytes > simulated_capacity) return -ENOSPC;
    const uint8_t *start = (const uint8_t *)areas->addr + areas->first / 8 + offset * areas->step / 8;
    memcpy(card->written + card->written_bytes, start, bytes);
    card->written_bytes += bytes;
    card->in_buffer += frames;
    return frames;
}

static int on_poll(snd_pcm_ioplug_t *plugin, struct pollfd *descriptors, unsigned int count, unsigned short *events) {
    (void)count;
    simulated_card *card = plugin->private_data;
    if (card->hears_when_polled) {
        bool less = card->in_buffer < plugin->period_size;
        simulated_card_hear(card, less ? card->in_buffer : plugin->period_size);
    }
    bool ready = descriptors->revents & POLLIN;
    switch (plugin->state) {
    case SND_PCM_STATE_XRUN:
    case SND_PCM_STATE_SUSPENDED:
    case SND_PCM_STATE_DISCONNECTED: *events = POLLERR; break;
    default: *events = card->failing ? POLLERR : ready ? POLLOUT : 0;
    }
    return 0;
}

static int on_software_parameters(snd_pcm_ioplug_t *plugin, snd_pcm_sw_params_t *software) {
    simulated_card *card = plugin->private_data;
    simulated_parameters parameters;
    snd_pcm_sw_params_get_start_threshold(software, &parameters.start_threshold);
    snd_pcm_sw_params_get_stop_threshold(software, &parameters.stop_threshold);
    snd_pcm_sw_params_get_silence_threshold(software, &parameters.silence_threshold);
    snd_pcm_sw_params_get_silence_size(software, &parameters.silence_size);
    snd_pcm_sw_params_get_avail_min(software, &parameters.avail_min);
    snd_pcm_sw_params_get_boundary(software, &parameters.boundary);
    if (card->refuses_silence && parameters.silence_size > 0) return -EINVAL;
    card->parameters = parameters;
    return 0;
}

static unsigned length(const unsigned *list) {
    unsigned count = 0;
    while (list[count]) count++;
    return count;
}

static unsigned map_length(const simulated_card *card) {
    unsigned count = 0;
    while (count < 8 && card->abilities.positions[count]) count++;
    return count;
}

static snd_pcm_chmap_query_t **on_query_maps(snd_pcm_ioplug_t *plugin) {
    simulated_card *card = plugin->private_data;
    unsigned count = map_length(card);
    if (count == 0) return NULL;
    snd_pcm_chmap_query_t **maps = calloc(2, sizeof *maps);
    maps[0] = malloc(sizeof **maps + count * sizeof(unsigned));
    maps[0]->type = card->abilities.map_type;
    maps[0]->map.channels = count;
    memcpy(maps[0]->map.pos, card->abilities.positions, count * sizeof(unsigned));
    return maps;
}

static snd_pcm_chmap_t *on_get_map(snd_pcm_ioplug_t *plugin) {
    simulated_card *card = plugin->private_data;
    if (map_length(card) != plugin->channels) return NULL;
    snd_pcm_chmap_t *map = malloc(sizeof *map + plugin->channels * sizeof(unsigned));
    map->channels = plugin->channels;
    memcpy(map->pos, card->positions, plugin->channels * sizeof(unsigned));
    return map;
}

static int on_set_map(snd_pcm_ioplug_t *plugin, const snd_pcm_chmap_t *map) {
    simulated_card *card = plugin->private_data;
    if (map->channels != plugin->channels || card->abilities.refuses_maps) return -EINVAL;
    memcpy(card->positions, map->pos, map->channels * sizeof(unsigned));
    return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
    .start = on_start,
    .close = on_close,
    .stop = on_stop,
    .prepare = on_prepare,
    .resume = on_resume,
    .pointer = on_pointer,
    .transfer = on_transfer,
    .poll_revents = on_poll,
    .sw_params = on_software_parameters,
    .query_chmaps = on_query_maps,
    .get_chmap = on_get_map,
    .set_chmap = on_set_map,
};

static const snd_pcm_ioplug_callback_t callbacks_with_latency = {
    .start = on_start,
    .close = on_close,
    .stop = on_stop,
    .prepare = on_prepare,
    .resume = on_resume,
    .pointer = on_pointer,
    .transfer = on_transfer,
    .poll_revents = on_poll,
    .sw_params = on_software_parameters,
    .query_chmaps = on_query_maps,
    .get_chmap = on_get_map,
    .set_chmap = on_set_map,
    .delay = on_delay,
};

simulated_card *simulated_card_create(const simulated_abilities *abilities) {
    simulated_card *card = calloc(1, sizeof *card);
    if (!card) return NULL;
    snd_pcm_ioplug_t *plugin = &card->plugin;
    plugin->version = SND_PCM_IOPLUG_VERSION;
    plugin->name = "Simulated card";
    plugin->flags = SND_PCM_IOPLUG_FLAG_BOUNDARY_WA;
    plugin->callback = abilities->latency > 0 ? &callbacks_with_latency : &callbacks;
    card->latency = abilities->latency;
    card->abilities = *abilities;
    memcpy(card->positions, abilities->positions, sizeof card->positions);
    plugin->private_data = card;
    plugin->poll_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    plugin->poll_events = POLLIN;
    if (snd_pcm_ioplug_create(plugin, "simulated", SND_PCM_STREAM_PLAYBACK, SND_PCM_NONBLOCK) < 0) {
        close(plugin->poll_fd);
        free(card);
        return NULL;
    }
    plugin->nonblock = 1;
    card->stutters = abilities->stutters;
    card->refuses_silence = abilities->refuses_silence;
    const unsigned access[] = {SND_PCM_ACCESS_RW_INTERLEAVED, SND_PCM_ACCESS_MMAP_INTERLEAVED};
    snd_pcm_ioplug_set_param_list(plugin, SND_PCM_IOPLUG_HW_ACCESS, abilities->memory_mapped ? 2 : 1, access);
    snd_pcm_ioplug_set_param_list(
        plugin, SND_PCM_IOPLUG_HW_FORMAT, length(abilities->formats), abilities->formats);
    snd_pcm_ioplug_set_param_list(plugin, SND_PCM_IOPLUG_HW_RATE, length(abilities->rates), abilities->rates);
    snd_pcm_ioplug_set_param_list(
        plugin, SND_PCM_IOPLUG_HW_CHANNELS, length(abilities->channels), abilities->channels);
    return card;
}

void simulated_card_free(simulated_card *card) {
    card->is_freed = true;
    if (!card->is_open) release(card);
}

struct _snd_pcm *simulated_card_pcm(simulated_card *card) {
    card->is_open = true;
    return card->plugin.pcm;
}

void simulated_card_hear(simulated_card *card, size_t frames) {
    snd_pcm_uframes_t taken = frames < card->in_buffer ? frames : card->in_buffer;
    bool runs_on = card->parameters.stop_threshold >= card->parameters.boundary;
    snd_pcm_uframes_t silence = runs_on && card->plugin.state == SND_PCM_STATE_RUNNING ? frames - taken : 0;
    card->in_buffer -= taken;
    card->in_flight += taken;
    card->silence_in_flight += silence;
    while (card->in_flight > 0 && card->in_flight + card->silence_in_flight > card->latency) {
        card->in_flight--;
        card->heard++;
    }
    card->position = (card->position + taken + silence) % card->parameters.boundary;
    if (taken + silence < frames && card->plugin.state == SND_PCM_STATE_RUNNING) card->failing = true;
}

void simulated_card_hear_when_polled(simulated_card *card) {
    card->hears_when_polled = true;
    simulated_card_set_ready(card, true);
}

void simulated_card_set_ready(simulated_card *card, bool ready) {
    eventfd_t ignored;
    if (ready) eventfd_write(card->plugin.poll_fd, 1);
    else eventfd_read(card->plugin.poll_fd, &ignored);
}

void simulated_card_fail(simulated_card *card, simulated_fault fault) {
    card->failing = true;
    simulated_card_set_ready(card, true);
    switch (fault) {
    case simulated_underrun: snd_pcm_ioplug_set_state(&card->plugin, SND_PCM_STATE_XRUN); break;
    case simulated_suspended: snd_pcm_ioplug_set_state(&card->plugin, SND_PCM_STATE_SUSPENDED); break;
    case simulated_disconnected: snd_pcm_ioplug_set_state(&card->plugin, SND_PCM_STATE_DISCONNECTED); break;
    }
}

const uint8_t *simulated_card_written(const simulated_card *card, size_t *bytes) {
    *bytes = card->written_bytes;
    return card->written;
}

simulated_parameters simulated_card_parameters(const simulated_card *card) { return card->parameters; }
size_t simulated_card_heard(const simulated_card *card) { return card->heard; }
unsigned simulated_card_position(const simulated_card *card, unsigned channel) { return card->positions[channel]; }
int simulated_card_starts(const simulated_card *card) { return card->starts; }
