#ifndef STANDIN_ANE_SURFACE_H
#define STANDIN_ANE_SURFACE_H

#import "core.h"

// _ANEIOSurfaceObject: owns one reference to its surface.
@interface StandinSurface : StandinObject {
@public
    IOSurfaceRef surface;
    NSNumber *offset;
}
@end

#endif
