#include "SimulatedStatus.h"

#include <alsa/asoundlib.h>
#include <alsa/control_external.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct simulated_status {
    snd_ctl_ext_t plugin;
    unsigned device, subdevice;
    snd_aes_iec958_t content;
};

static const char name[] = "IEC958 Playback Default";

static int on_count(snd_ctl_ext_t *plugin) {
    (void)plugin;
    return 1;
}

static int on_list(snd_ctl_ext_t *plugin, unsigned int offset, snd_ctl_elem_id_t *id) {
    simulated_status *status = plugin->private_data;
    if (offset > 0) return -EINVAL;
    snd_ctl_elem_id_set_interface(id, SND_CTL_ELEM_IFACE_PCM);
    snd_ctl_elem_id_set_name(id, name);
    snd_ctl_elem_id_set_device(id, status->device);
    snd_ctl_elem_id_set_subdevice(id, status->subdevice);
    return 0;
}

static snd_ctl_ext_key_t on_find(snd_ctl_ext_t *plugin, const snd_ctl_elem_id_t *id) {
    simulated_status *status = plugin->private_data;
    bool is_it = snd_ctl_elem_id_get_interface(id) == SND_CTL_ELEM_IFACE_PCM &&
                 strcmp(snd_ctl_elem_id_get_name(id), name) == 0 && snd_ctl_elem_id_get_index(id) == 0 &&
                 snd_ctl_elem_id_get_device(id) == status->device &&
                 snd_ctl_elem_id_get_subdevice(id) == status->subdevice;
    return is_it ? 0 : SND_CTL_EXT_KEY_NOT_FOUND;
}

static int on_attribute(
    snd_ctl_ext_t *plugin, snd_ctl_ext_key_t key, int *type, unsigned int *access, unsigned int *count
) {
    (void)plugin;
    (void)key;
    *type = SND_CTL_ELEM_TYPE_IEC958;
    *access = SND_CTL_EXT_ACCESS_READWRITE;
    *count = 1;
    return 0;
}

static int on_read(snd_ctl_ext_t *plugin, snd_ctl_ext_key_t key, snd_aes_iec958_t *content) {
    (void)key;
    *content = ((simulated_status *)plugin->private_data)->content;
    return 0;
}

static int on_write(snd_ctl_ext_t *plugin, snd_ctl_ext_key_t key, snd_aes_iec958_t *content) {
    (void)key;
    ((simulated_status *)plugin->private_data)->content = *content;
    return 1;
}

static const snd_ctl_ext_callback_t callbacks = {
    .elem_count = on_count,
    .elem_list = on_list,
    .find_elem = on_find,
    .get_attribute = on_attribute,
    .read_iec958 = on_read,
    .write_iec958 = on_write,
};

simulated_status *simulated_status_create(unsigned device, unsigned subdevice) {
    simulated_status *status = calloc(1, sizeof *status);
    if (!status) return NULL;
    status->device = device;
    status->subdevice = subdevice;
    snd_ctl_ext_t *plugin = &status->plugin;
    plugin->version = SND_CTL_EXT_VERSION;
    strcpy(plugin->id, "Simulated");
    plugin->poll_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    plugin->callback = &callbacks;
    plugin->private_data = status;
    if (snd_ctl_ext_create(plugin, "simulated", SND_CTL_NONBLOCK) < 0) {
        simulated_status_free(status);
        return NULL;
    }
    return status;
}

void simulated_status_free(simulated_status *status) {
    close(status->plugin.poll_fd);
    free(status);
}

struct _snd_ctl *simulated_status_control(simulated_status *status) { return status->plugin.handle; }

const uint8_t *simulated_status_bytes(const simulated_status *status) { return status->content.status; }
