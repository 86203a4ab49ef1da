//go:build darwin && cgo

package metal

import (
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/ebitengine/purego"
	"github.com/progrium/darwinkit/macos/iosurface"
	mtl "github.com/progrium/darwinkit/macos/metal"
	"github.com/progrium/darwinkit/objc"
)

// Paths of the libraries on macOS. They are in the shared cache, not on disk. In a program without windows Metal finds
// a default device only if CoreGraphics is loaded.
const (
	coreGraphicsPath = "/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics"
	metalPath        = "/System/Library/Frameworks/Metal.framework/Metal"
	ioSurfacePath    = "/System/Library/Frameworks/IOSurface.framework/IOSurface"
)

// functions are C functions that darwinkit does not have.
type functions struct {
	createDevice, copyDevices                       uintptr
	planes, width, height, element, row             uintptr
	planeWidth, planeHeight, planeElement, planeRow uintptr
}

// system loads the libraries once and never unloads them.
var system = sync.OnceValues(func() (*driver, error) {
	f, err := load()
	if err != nil {
		return nil, err
	}
	return &driver{
		systemDevice: func() uintptr { return call(f.createDevice) },
		devices:      func() []uintptr { return devicesOf(call(f.copyDevices)) },
		id:           func(device uintptr) uint64 { return objc.Call[uint64](objectOf(device), objc.Sel("registryID")) },
		metal3:       metal3,
		name: func(device uintptr) (name string) {
			objc.WithAutoreleasePool(func() { name = deviceOf(device).Name() })
			return name
		},
		maxBuffer: func(device uintptr) int {
			return int(min(deviceOf(device).MaxBufferLength(), math.MaxInt))
		},
		newBuffer:  newBuffer,
		allocate:   allocate,
		contents:   func(ref uintptr) uintptr { return objc.Call[uintptr](objectOf(ref), objc.Sel("contents")) },
		unified:    func(device uintptr) bool { return deviceOf(device).HasUnifiedMemory() },
		plane:      f.plane,
		newTexture: newTexture,
		release:    func(ref uintptr) { objectOf(ref).Release() },

		newQueue:   newQueue,
		newFence:   newFence,
		newKernel:  newKernel,
		newEvent:   newEvent,
		value:      eventValue,
		signal:     signalEvent,
		await:      awaitEvent,
		start:      startWork,
		finish:     finishWork,
		capture:    startCapture,
		endCapture: endCapture,
	}, nil
})

func load() (*functions, error) {
	// The loader stores the text of its last error per thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	if _, err := purego.Dlopen(coreGraphicsPath, purego.RTLD_NOW|purego.RTLD_GLOBAL); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	metal, err := purego.Dlopen(metalPath, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	surface, err := purego.Dlopen(ioSurfacePath, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	var missing error
	at := func(addr uintptr, err error) uintptr {
		if err != nil && missing == nil {
			missing = fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		return addr
	}
	return &functions{
		createDevice: at(purego.Dlsym(metal, "MTLCreateSystemDefaultDevice")),
		copyDevices:  at(purego.Dlsym(metal, "MTLCopyAllDevices")),
		planes:       at(purego.Dlsym(surface, "IOSurfaceGetPlaneCount")),
		width:        at(purego.Dlsym(surface, "IOSurfaceGetWidth")),
		height:       at(purego.Dlsym(surface, "IOSurfaceGetHeight")),
		element:      at(purego.Dlsym(surface, "IOSurfaceGetBytesPerElement")),
		row:          at(purego.Dlsym(surface, "IOSurfaceGetBytesPerRow")),
		planeWidth:   at(purego.Dlsym(surface, "IOSurfaceGetWidthOfPlane")),
		planeHeight:  at(purego.Dlsym(surface, "IOSurfaceGetHeightOfPlane")),
		planeElement: at(purego.Dlsym(surface, "IOSurfaceGetBytesPerElementOfPlane")),
		planeRow:     at(purego.Dlsym(surface, "IOSurfaceGetBytesPerRowOfPlane")),
	}, missing
}

func call(function uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(function, args...)
	return r
}

// plane returns the geometry of the whole surface if it has no planes.
func (f *functions) plane(surface uintptr, number int) (plane, bool) {
	n := int(call(f.planes, surface))
	if n == 0 {
		return plane{
			width: int(call(f.width, surface)), height: int(call(f.height, surface)),
			element: int(call(f.element, surface)), row: int(call(f.row, surface)),
		}, number == 0
	}
	if number >= n {
		return plane{}, false
	}
	at := uintptr(number)
	return plane{
		width: int(call(f.planeWidth, surface, at)), height: int(call(f.planeHeight, surface, at)),
		element: int(call(f.planeElement, surface, at)), row: int(call(f.planeRow, surface, at)),
	}, true
}

func deviceOf(ref uintptr) mtl.DeviceObject {
	return mtl.DeviceObject{Object: objc.ObjectFrom(pointer(ref))}
}

// newBuffer sends the message directly: darwinkit's method makes an Objective-C block of a nil deallocator, which Metal
// would call. Without a deallocator the Block keeps its memory.
func newBuffer(device, address uintptr, size int) uintptr {
	var made mtl.BufferObject
	objc.WithAutoreleasePool(func() {
		made = objc.Call[mtl.BufferObject](deviceOf(device),
			objc.Sel("newBufferWithBytesNoCopy:length:options:deallocator:"),
			pointer(address), uint(size), mtl.ResourceStorageModeShared, nil)
	})
	return uintptr(made.Ptr())
}

func allocate(device uintptr, size int) uintptr {
	var made mtl.BufferObject
	objc.WithAutoreleasePool(func() {
		made = objc.Call[mtl.BufferObject](deviceOf(device), objc.Sel("newBufferWithLength:options:"), uint(size),
			mtl.ResourceStorageModeShared)
	})
	return uintptr(made.Ptr())
}

// newTexture uses shared storage on a GPU that shares the CPU's memory. Other GPUs, of Intel Macs, support surfaces
// only with managed storage.
func newTexture(device, surface uintptr, s Shape) uintptr {
	var made mtl.TextureObject
	objc.WithAutoreleasePool(func() {
		gpu := deviceOf(device)
		d := mtl.TextureDescriptorClass.Texture2DDescriptorWithPixelFormatWidthHeightMipmapped(
			mtl.PixelFormat(s.Format), uint(s.Width), uint(s.Height), false)
		d.SetStorageMode(mtl.StorageModeManaged)
		if gpu.HasUnifiedMemory() {
			d.SetStorageMode(mtl.StorageModeShared)
		}
		d.SetUsage(mtl.TextureUsageShaderRead)
		if s.Write {
			d.SetUsage(mtl.TextureUsageShaderRead | mtl.TextureUsageShaderWrite)
		}
		made = gpu.NewTextureWithDescriptorIosurfacePlane(d, iosurface.Ref(surface), uint(s.Plane))
	})
	return uintptr(made.Ptr())
}
