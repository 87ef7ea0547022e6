#include "SimulatedMixer.h"

#include <alsa/asoundlib.h>
#include <alsa/control_external.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { volume_key, switch_key, key_count };

struct simulated_mixer {
    snd_ctl_ext_t plugin;
    simulated_volume abilities;
    char names[key_count][64];
    long values[key_count][2];
    unsigned int scale[4];
    /// By `simulated_mixer_set_value`; alsa-lib has not been told.
    bool has_changed;
};

static int on_count(snd_ctl_ext_t *plugin) {
    return ((simulated_mixer *)plugin->private_data)->abilities.has_switch ? 2 : 1;
}

static int on_list(snd_ctl_ext_t *plugin, unsigned int offset, snd_ctl_elem_id_t *id) {
    simulated_mixer *mixer = plugin->private_data;
    if (offset >= (unsigned)on_count(plugin)) return -EINVAL;
    snd_ctl_elem_id_set_interface(id, SND_CTL_ELEM_IFACE_MIXER);
    snd_ctl_elem_id_set_name(id, mixer->names[offset]);
    return 0;
}

static snd_ctl_ext_key_t on_find(snd_ctl_ext_t *plugin, const snd_ctl_elem_id_t *id) {
    simulated_mixer *mixer = plugin->private_data;
    for (int key = 0; key < on_count(plugin); key++) {
        if (strcmp(snd_ctl_elem_id_get_name(id), mixer->names[key]) == 0) return key;
    }
    return SND_CTL_EXT_KEY_NOT_FOUND;
}

static int on_attribute(
    snd_ctl_ext_t *plugin, snd_ctl_ext_key_t key, int *type, unsigned int *access, unsigned int *count
) {
    simulated_mixer *mixer = plugin->private_data;
    *type = key == volume_key ? SND_CTL_ELEM_TYPE_INTEGER : SND_CTL_ELEM_TYPE_BOOLEAN;
    *access = SND_CTL_EXT_ACCESS_READWRITE;
    if (key == volume_key && mixer->abilities.has_decibels) *access |= SND_CTL_EXT_ACCESS_TLV_READ;
    *count = 2;
    return 0;
}

static int on_range(snd_ctl_ext_t *plugin, snd_ctl_ext_key_t key, long *first, long *last, long *step) {
    simulated_mixer *mixer = plugin->private_data;
    *first = key == volume_key ? mixer->abilities.first : 0;
    *last = key == volume_key ? mixer->abilities.last : 1;
    *step = 0;
    return 0;
}

static int on_read(snd_ctl_ext_t *plugin, snd_ctl_ext_key_t key, long *values) {
    simulated_mixer *mixer = plugin->private_data;
    memcpy(values, mixer->values[key], sizeof mixer->values[key]);
    return 0;
}

static int on_write(snd_ctl_ext_t *plugin, snd_ctl_ext_key_t key, long *values) {
    simulated_mixer *mixer = plugin->private_data;
    memcpy(mixer->values[key], values, sizeof mixer->values[key]);
    return 1;
}

static void on_subscribe(snd_ctl_ext_t *plugin, int subscribe) {
    (void)plugin;
    (void)subscribe;
}

static int on_event(snd_ctl_ext_t *plugin, snd_ctl_elem_id_t *id, unsigned int *mask) {
    simulated_mixer *mixer = plugin->private_data;
    if (!mixer->has_changed) return -EAGAIN;
    mixer->has_changed = false;
    snd_ctl_elem_id_clear(id);
    snd_ctl_elem_id_set_interface(id, SND_CTL_ELEM_IFACE_MIXER);
    snd_ctl_elem_id_set_name(id, mixer->names[volume_key]);
    *mask = SND_CTL_EVENT_MASK_VALUE;
    return 1;
}

static const snd_ctl_ext_callback_t callbacks = {
    .elem_count = on_count,
    .elem_list = on_list,
    .find_elem = on_find,
    .get_attribute = on_attribute,
    .get_integer_info = on_range,
    .read_integer = on_read,
    .write_integer = on_write,
    .subscribe_events = on_subscribe,
    .read_event = on_event,
};

simulated_mixer *simulated_mixer_create(const simulated_volume *volume) {
    simulated_mixer *mixer = calloc(1, sizeof *mixer);
    if (!mixer) return NULL;
    mixer->abilities = *volume;
    snprintf(mixer->names[volume_key], sizeof mixer->names[0], "%s Playback Volume", volume->name);
    snprintf(mixer->names[switch_key], sizeof mixer->names[0], "%s Playback Switch", volume->name);
    for (int channel = 0; channel < 2; channel++) {
        mixer->values[volume_key][channel] = volume->last;
        mixer->values[switch_key][channel] = 1;
    }
    // SNDRV_CTL_TLVT_DB_SCALE: type, length, minimum, step and whether the lowest one is silence.
    mixer->scale[0] = 1;
    mixer->scale[1] = 2 * sizeof(unsigned int);
    mixer->scale[2] = (unsigned int)volume->least_decibels;
    mixer->scale[3] = (unsigned int)volume->decibels_a_step | (volume->mutes_at_first ? 0x10000 : 0);
    snd_ctl_ext_t *plugin = &mixer->plugin;
    plugin->version = SND_CTL_EXT_VERSION;
    strcpy(plugin->id, "Simulated");
    strcpy(plugin->name, "Simulated mixer");
    plugin->poll_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    plugin->callback = &callbacks;
    plugin->private_data = mixer;
    plugin->tlv.p = mixer->scale;
    if (snd_ctl_ext_create(plugin, "simulated", SND_CTL_NONBLOCK) < 0) {
        close(plugin->poll_fd);
        free(mixer);
        return NULL;
    }
    return mixer;
}

void simulated_mixer_free(simulated_mixer *mixer) {
    close(mixer->plugin.poll_fd);
    free(mixer);
}

struct _snd_ctl *simulated_mixer_control(simulated_mixer *mixer) { return mixer->plugin.handle; }

long simulated_mixer_value(const simulated_mixer *mixer, int channel) { return mixer->values[volume_key][channel]; }

void simulated_mixer_set_value(simulated_mixer *mixer, int channel, long value) {
    mixer->values[volume_key][channel] = value;
    mixer->has_changed = true;
}

bool simulated_mixer_is_on(const simulated_mixer *mixer) {
    return mixer->values[switch_key][0] != 0 || mixer->values[switch_key][1] != 0;
}
