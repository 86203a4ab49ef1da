package vulkan

// envDevice is the environment variable with the device that Open takes without Choose.
const envDevice = "ANEKIT_GPU"

const validationLayer = "VK_LAYER_KHRONOS_validation"

// Option configures Open and List.
type Option func(*config)

type config struct {
	choice   string
	chosen   bool
	validate func(message string)
	library  string                                 // another loader, for tests
	wrap     func(name string, f function) function // for tests
}

func configure(opts []Option) config {
	c := config{library: libraryName}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// Choose opens the one device whose name contains the text, in any case, or whose ID begins with it. Without Choose the
// environment variable ANEKIT_GPU has the text. An empty text takes the first device of List that is usable.
func Choose(device string) Option { return func(c *config) { c.choice, c.chosen = device, true } }

// Validate loads the layer VK_LAYER_KHRONOS_validation, which checks every call, and passes its warnings and errors to
// report. A message has "error" or "warning", the rule, such as VUID-vkMapMemory-memory-00678, and a text. The layer
// calls report on any goroutine, during calls of this package; report must not call this package. Open fails with
// ErrExtension where the layer is not installed.
func Validate(report func(message string)) Option { return func(c *config) { c.validate = report } }
