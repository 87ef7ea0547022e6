#include "CLinux.h"

#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <sys/ioctl.h>

int tonearm_i2c_read(int descriptor, int address, int reg) {
    // The driver of a chip may hold its address already; a read does not disturb it.
    if (ioctl(descriptor, I2C_SLAVE_FORCE, (long)address) != 0) return -1;
    union i2c_smbus_data value;
    struct i2c_smbus_ioctl_data request = {
        .read_write = I2C_SMBUS_READ,
        .command = (__u8)reg,
        .size = I2C_SMBUS_BYTE_DATA,
        .data = &value,
    };
    return ioctl(descriptor, I2C_SMBUS, &request) == 0 ? value.byte : -1;
}
