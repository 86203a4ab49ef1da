package vulkan

// EnvDevice is the environment variable with the device that Open and List take without Choose. See Choose.
const EnvDevice = "ANEKIT_GPU"

// ValidationLayer is the layer that Validate loads.
const ValidationLayer = "VK_LAYER_KHRONOS_validation"

// Option configures Open and List.
type Option func(*config)

type config struct {
	choice   string
	chosen   bool
	library  string
	validate func(Message)
	wrap     func(name string, f function) function // for tests
}

func configure(opts []Option) config {
	c := config{library: library}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// Choose opens the one device whose name contains the text, in any case, or whose ID begins with it. Without Choose the
// variable EnvDevice has the text. An empty text takes the first device of List that is usable.
func Choose(device string) Option { return func(c *config) { c.choice, c.chosen = device, true } }

// Library loads the Vulkan loader from a path instead of libvulkan.so.1 or vulkan-1.dll.
func Library(path string) Option { return func(c *config) { c.library = path } }

// Validate loads ValidationLayer, which checks every call, and passes its warnings and errors to report. The layer
// calls report on any goroutine, during calls of this package; report must not call this package. Open fails with
// ErrExtension where the layer is not installed.
func Validate(report func(Message)) Option { return func(c *config) { c.validate = report } }
