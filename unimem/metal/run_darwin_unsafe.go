//go:build darwin && cgo

package metal

import (
	"time"
	"unsafe"

	"github.com/progrium/darwinkit/macos/foundation"
	mtl "github.com/progrium/darwinkit/macos/metal"
	"github.com/progrium/darwinkit/objc"
)

// The messages are sent directly where darwinkit's method takes an object by its protocol. It wraps the object into one
// of its own, which panics for the types that darwinkit itself returns.

// objectOf makes a receiver or an argument of a reference.
func objectOf(ref uintptr) objc.Object { return objc.ObjectFrom(pointer(ref)) }

// wordsOf returns the description of an NSError, which may be nil.
func wordsOf(fault *unsafe.Pointer, otherwise string) string {
	if *fault == nil {
		return otherwise
	}
	return foundation.ErrorFrom(*fault).LocalizedDescription()
}

func newQueue(device uintptr) uintptr {
	var made mtl.CommandQueueObject
	objc.WithAutoreleasePool(func() { made = deviceOf(device).NewCommandQueue() })
	return uintptr(made.Ptr())
}

func newKernel(device uintptr, text, function string) (k pipeline) {
	objc.WithAutoreleasePool(func() {
		problem := new(unsafe.Pointer)
		gpu := deviceOf(device)
		library := objc.Call[mtl.LibraryObject](gpu, objc.Sel("newLibraryWithSource:options:error:"), text, nil,
			unsafe.Pointer(problem))
		if library.Ptr() == nil {
			k.fault = wordsOf(problem, "Metal does not compile the text")
			return
		}
		defer library.Release()
		f := objc.Call[mtl.FunctionObject](library, objc.Sel("newFunctionWithName:"), function)
		if f.Ptr() == nil {
			k.fault = "the text has no function " + function
			return
		}
		defer f.Release()
		*problem = nil
		reflection := new(unsafe.Pointer)
		const bindingInfo = 1 // MTLPipelineOptionBindingInfo
		made := objc.Call[mtl.ComputePipelineStateObject](gpu,
			objc.Sel("newComputePipelineStateWithFunction:options:reflection:error:"), f, uint(bindingInfo),
			unsafe.Pointer(reflection), unsafe.Pointer(problem))
		if made.Ptr() == nil {
			k.fault = wordsOf(problem, "Metal makes no pipeline of it")
			return
		}
		k.ref = uintptr(made.Ptr())
		k.threads = int(objc.Call[uint](made, objc.Sel("maxTotalThreadsPerThreadgroup")))
		if *reflection != nil {
			k.reads = readsOf(objc.ObjectFrom(*reflection))
		}
	})
	return k
}

// readsOf returns a bit for each buffer that a function only reads, of its MTLComputePipelineReflection. bindings is a
// property of macOS 13.
func readsOf(reflection objc.Object) (reads uint32) {
	const buffer, readOnly = 0, 0 // MTLBindingTypeBuffer, MTLBindingAccessReadOnly
	if !reflection.RespondsToSelector(objc.Sel("bindings")) {
		return 0
	}
	bindings := objc.Call[objc.Object](reflection, objc.Sel("bindings"))
	for i := range objc.Call[uint](bindings, objc.Sel("count")) {
		b := objc.Call[objc.Object](bindings, objc.Sel("objectAtIndex:"), i)
		if objc.Call[uint](b, objc.Sel("type")) == buffer && objc.Call[uint](b, objc.Sel("access")) == readOnly {
			reads |= 1 << objc.Call[uint](b, objc.Sel("index"))
		}
	}
	return reads
}

func newEvent(device uintptr) uintptr {
	var made mtl.SharedEventObject
	objc.WithAutoreleasePool(func() { made = deviceOf(device).NewSharedEvent() })
	return uintptr(made.Ptr())
}

func eventValue(event uintptr) uint64 {
	return objc.Call[uint64](objectOf(event), objc.Sel("signaledValue"))
}

func signalEvent(event uintptr, v uint64) {
	objc.Call[objc.Void](objectOf(event), objc.Sel("setSignaledValue:"), v)
}

// awaitEvent uses a method of macOS 12.
func awaitEvent(event uintptr, v, milliseconds uint64) bool {
	o, wait := objectOf(event), objc.Sel("waitUntilSignaledValue:timeoutMS:")
	if !o.RespondsToSelector(wait) {
		time.Sleep(time.Millisecond)
		return eventValue(event) >= v
	}
	return objc.Call[bool](o, wait, v, milliseconds)
}

func startWork(queue uintptr, w work) (commands uintptr) {
	objc.WithAutoreleasePool(func() {
		b := objc.Call[mtl.CommandBufferObject](objectOf(queue), objc.Sel("commandBuffer"))
		if b.Ptr() == nil {
			return
		}
		b.Retain() // the pool has the only reference
		for _, e := range w.waits {
			objc.Call[objc.Void](b, objc.Sel("encodeWaitForEvent:value:"), objectOf(e.event), e.value)
		}
		for i := 0; i < len(w.steps); {
			i = encodeSteps(b, w, i)
		}
		for _, e := range w.signals {
			objc.Call[objc.Void](b, objc.Sel("encodeSignalEvent:value:"), objectOf(e.event), e.value)
		}
		objc.Call[objc.Void](b, objc.Sel("commit"))
		commands = uintptr(b.Ptr())
	})
	return commands
}

// encodeSteps encodes the steps from number i on that one encoder takes, and returns the number of the next one. Two
// Buffers may be of one Block, which Metal does not know: barriers order dispatches, and the fence orders encoders.
func encodeSteps(b mtl.CommandBufferObject, w work, i int) int {
	blits := w.steps[i].blit != nil
	kind := "computeCommandEncoder"
	if blits {
		kind = "blitCommandEncoder"
	}
	c := objc.Call[objc.Object](b, objc.Sel(kind))
	if i > 0 {
		objc.Call[objc.Void](c, objc.Sel("waitForFence:"), objectOf(w.fence))
	}
	for first := true; i < len(w.steps) && (w.steps[i].blit != nil) == blits; i++ {
		if blits {
			encodeBlit(c, *w.steps[i].blit)
			i++ // blits of one encoder have no barriers between them
			break
		}
		if !first {
			const buffers = 1 // MTLBarrierScopeBuffers
			objc.Call[objc.Void](c, objc.Sel("memoryBarrierWithScope:"), uint(buffers))
		}
		first = false
		encode(c, w.steps[i].dispatch)
	}
	if i < len(w.steps) {
		objc.Call[objc.Void](c, objc.Sel("updateFence:"), objectOf(w.fence))
	}
	objc.Call[objc.Void](c, objc.Sel("endEncoding"))
	return i
}

func encodeBlit(c objc.Object, b blit) {
	if b.from != 0 {
		objc.Call[objc.Void](c, objc.Sel("copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:"),
			objectOf(b.from), uint(b.fromOffset), objectOf(b.to), uint(b.toOffset), uint(b.length))
		return
	}
	objc.Call[objc.Void](c, objc.Sel("fillBuffer:range:value:"), objectOf(b.to),
		foundation.Range{Location: uint64(b.toOffset), Length: uint64(b.length)}, b.value)
}

func newFence(device uintptr) uintptr {
	var made objc.Object
	objc.WithAutoreleasePool(func() { made = objc.Call[objc.Object](deviceOf(device), objc.Sel("newFence")) })
	return uintptr(made.Ptr())
}

// devicesOf returns the elements of an NSArray of devices that the caller owns, each retained.
func devicesOf(array uintptr) (all []uintptr) {
	if array == 0 {
		return nil
	}
	objc.WithAutoreleasePool(func() {
		devices := objectOf(array)
		for i := range objc.Call[uint](devices, objc.Sel("count")) {
			d := objc.Call[objc.Object](devices, objc.Sel("objectAtIndex:"), i)
			d.Retain()
			all = append(all, uintptr(d.Ptr()))
		}
		devices.Release()
	})
	return all
}

// metal3 asks by a method of macOS 10.15.
func metal3(device uintptr) bool {
	const family = 5001 // MTLGPUFamilyMetal3
	d, ask := objectOf(device), objc.Sel("supportsFamily:")
	return d.RespondsToSelector(ask) && objc.Call[bool](d, ask, family)
}

func encode(c objc.Object, d dispatch) {
	objc.Call[objc.Void](c, objc.Sel("setComputePipelineState:"), objectOf(d.pipeline))
	for _, b := range d.buffers {
		objc.Call[objc.Void](c, objc.Sel("setBuffer:offset:atIndex:"), objectOf(b.buffer), uint(b.offset), uint(b.at))
	}
	if len(d.push) > 0 {
		objc.Call[objc.Void](c, objc.Sel("setBytes:length:atIndex:"), unsafe.Pointer(unsafe.SliceData(d.push)),
			uint(len(d.push)), uint(d.pushAt))
	}
	objc.Call[objc.Void](c, objc.Sel("dispatchThreadgroups:threadsPerThreadgroup:"), sizeOf(d.groups), sizeOf(d.group))
}

func sizeOf(n [3]int) mtl.Size {
	return mtl.Size{Width: uint64(n[0]), Height: uint64(n[1]), Depth: uint64(n[2])}
}

func finishWork(commands uintptr) (code int, fault string) {
	objc.WithAutoreleasePool(func() {
		b := objectOf(commands)
		objc.Call[objc.Void](b, objc.Sel("waitUntilCompleted"))
		if objc.Call[mtl.CommandBufferStatus](b, objc.Sel("status")) != mtl.CommandBufferStatusError {
			return
		}
		const internal = 1 // MTLCommandBufferErrorInternal
		code, fault = internal, "no reason given"
		if e := objc.Call[foundation.Error](b, objc.Sel("error")); e.Ptr() != nil {
			code, fault = e.Code(), e.LocalizedDescription()
		}
	})
	return code, fault
}

func startCapture(device uintptr, path string) (fault string, ok bool) {
	objc.WithAutoreleasePool(func() {
		manager := mtl.CaptureManager_SharedCaptureManager()
		if !manager.SupportsDestination(mtl.CaptureDestinationGPUTraceDocument) {
			fault = "Metal does not write captures to files in this process"
			return
		}
		d := mtl.NewCaptureDescriptor()
		d.SetCaptureObject(deviceOf(device))
		d.SetDestination(mtl.CaptureDestinationGPUTraceDocument)
		d.SetOutputURL(foundation.URL_FileURLWithPath(path))
		problem := new(unsafe.Pointer)
		if ok = manager.StartCaptureWithDescriptorError(d, unsafe.Pointer(problem)); !ok {
			fault = wordsOf(problem, "Metal does not start the capture")
		}
	})
	return fault, ok
}

func endCapture() {
	objc.WithAutoreleasePool(func() { mtl.CaptureManager_SharedCaptureManager().StopCapture() })
}
