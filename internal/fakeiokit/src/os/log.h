#include "../DriverKit/driverkit.h"
