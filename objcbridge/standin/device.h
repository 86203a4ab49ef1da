// The device that the stand-in reports, in _ANEDeviceInfo and in the registry.
#ifndef STANDIN_DEVICE_H
#define STANDIN_DEVICE_H

#define DEVICE_SUBTYPE "h00"
#define DEVICE_VARIANT "s"

enum {
    DEVICE_BOARD = 65535, // no board of Apple's
    DEVICE_ENGINES = 1,
    DEVICE_CORES = 2 * DEVICE_ENGINES, // what the framework reports for subtypes unknown to it
    DEVICE_VERSION = 0,
};

#endif
