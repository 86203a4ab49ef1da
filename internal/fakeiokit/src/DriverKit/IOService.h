#include "driverkit.h"
