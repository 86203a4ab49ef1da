package dlpack

// Major and Minor are the newest version of the format that Import knows.
const Major, Minor = 1, 3

// Flags of ManagedTensorVersioned.
const (
	FlagReadOnly      = 1 << 0 // the consumer must not write
	FlagCopied        = 1 << 1 // the producer made a copy for this consumer
	FlagSubBytePadded = 1 << 2 // elements below 8 bits take a byte each
)

// Device types whose memory the CPU can access.
const (
	CPU      = 1
	CUDAHost = 3  // pinned by CUDA
	ROCmHost = 11 // pinned by ROCm
)

// Codes of DataType that tensors of package ane have.
const (
	Int   = 0
	UInt  = 1
	Float = 2
	Bool  = 6
)

// ManagedTensorVersioned is DLManagedTensorVersioned of dlpack.h, which foreign code reads. It has addresses instead of
// pointers, because the memory of some is foreign; the collector does not follow them. Export and At return such
// tensors; the caller must not copy one.
type ManagedTensorVersioned struct {
	Version    Version
	ManagerCtx uintptr // void *, for the producer
	Deleter    uintptr // void (*)(DLManagedTensorVersioned *), or 0
	Flags      uint64
	Tensor     Tensor
}

// ManagedTensor is DLManagedTensor, the format before 1.0.
type ManagedTensor struct {
	Tensor     Tensor
	ManagerCtx uintptr // void *, for the producer
	Deleter    uintptr // void (*)(DLManagedTensor *), or 0
}

// Version is DLPackVersion.
type Version struct{ Major, Minor uint32 }

// Tensor is DLTensor.
type Tensor struct {
	Data       uintptr // void *
	Device     Device
	NDim       int32
	DType      DataType
	Shape      uintptr // int64_t[NDim]
	Strides    uintptr // int64_t[NDim] in elements, or 0: row-major
	ByteOffset uint64  // of the first element from Data
}

// Device is DLDevice.
type Device struct{ Type, ID int32 }

// DataType is DLDataType.
type DataType struct {
	Code, Bits uint8
	Lanes      uint16
}
