package vulkan

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/internal/errtext"
)

var (
	// ErrUnavailable: this build or this machine has no Vulkan loader or no driver.
	ErrUnavailable = errors.New("no Vulkan here")
	// ErrDevice: no device fits, or the chosen one does not exist.
	ErrDevice = errors.New("no such Vulkan device")
	// ErrLost: the driver has lost the device. Its memory may hold anything; only Close works.
	ErrLost = errors.New("the device is lost")
	// ErrMemory: the driver has no more memory, on either side of the bus, or allows no more allocations.
	ErrMemory = errors.New("the driver has no more memory")
	// ErrAlignment: an address, size or offset that is not a multiple of what the device needs.
	ErrAlignment = errors.New("misaligned for the device")
	// ErrExtension: the driver does not have an extension, a layer or a feature.
	ErrExtension = errors.New("the driver does not support it")
	// ErrReadOnly: a write to memory for reading only, or Import of such memory by a driver that imports only memory
	// that it may write to.
	ErrReadOnly = errors.New("memory is for reading only")
	// ErrBlock: a Block that no GPU can use, such as one on the Go heap.
	ErrBlock = errors.New("this Block cannot be used by a GPU")
	// ErrKernel: a Kernel that the device refuses, or a Dispatch that does not fit its Kernel.
	ErrKernel = errors.New("kernel cannot run")
	// ErrRange: a Range outside of its Buffer, or one that the command cannot use.
	ErrRange = errors.New("range does not fit")
	// ErrBackwards: a value that a Timeline has passed.
	ErrBackwards = errors.New("value is not above that of the timeline")
	// ErrDriver: another error of the driver; Error.Code is its VkResult.
	ErrDriver = errors.New("the driver refuses")
	// ErrClosed: the use of a closed, nil or zero object.
	ErrClosed = errors.New("object is closed")
	// ErrInUse: Close of an object that pending work names.
	ErrInUse = errors.New("pending work names the object")
	// ErrForeign: an object of another Device.
	ErrForeign = errors.New("object belongs to another device")
)

// Error is the error type of every call of this package, except that the end of a context is returned as it is.
type Error struct {
	errtext.Base        // the fields Op, Err (a sentinel of this package, or an error of unimem), Detail, Cause and Hint
	Code         int32  // VkResult of the driver; 0 if no driver was asked
	Call         string // function of Vulkan that returned Code; may be empty
}

// newError returns an Error without a cause; detail and hint may be empty.
func newError(op string, kind error, detail, hint string) *Error {
	return &Error{Base: errtext.Base{Op: op, Err: kind, Detail: detail, Hint: hint}}
}

// Error returns the text on one line.
func (e *Error) Error() string {
	call := "vulkan: " + e.Op
	if e.Code != 0 {
		call += fmt.Sprintf(" (%s: VkResult %d)", e.Call, e.Code)
	}
	return e.Line(call)
}

// failed makes the error of a call of the driver, nil for success.
func failed(op, call string, r result) error {
	e := &Error{Base: errtext.Base{Op: op, Err: ErrDriver}, Code: int32(r), Call: call}
	switch r {
	case success:
		return nil
	case deviceLost:
		e.Err, e.Hint = ErrLost, "close the Device and open it again; the log of the kernel may have the cause"
	case noHostMemory, noDeviceMemory, tooManyObjects:
		e.Err, e.Hint = ErrMemory, "close Buffers that are not in use, or use smaller ones"
	case noExtension, noFeature, noLayer:
		e.Err = ErrExtension
	case noDriver, notInitialized:
		e.Err, e.Hint = ErrUnavailable, howToInstall
	case badHandle:
		e.Err, e.Hint = ErrBlock, "the driver cannot import this memory"
	case badShader:
		e.Err, e.Hint = ErrKernel, "check the code with spirv-val"
	}
	return e
}

// Where drivers come from.
const howToInstall = "install a driver: mesa-vulkan-drivers and libvulkan1 on Debian, or that of the GPU's maker"
