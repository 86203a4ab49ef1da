package safetensors

// Option configures Open, Load, Auto and Create. An option that does not apply to a call is
// ignored.
type Option func(*config)

type config struct {
	align  int // of the Writer
	expect int // tensors of the Writer
	unsafe bool
}

func configure(opts []Option) config {
	var c config
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// Align makes the Writer start every tensor at a multiple of n bytes of the file, a power of two.
// It writes a tensor of bytes, called as Padding reports, wherever the tensor before ends
// elsewhere.
func Align(n int) Option { return func(c *config) { c.align = n } }

// Expect makes the Writer reserve room in the header for about n tensors, default 64. If they need
// more, Close writes the tensors a second time.
func Expect(n int) Option { return func(c *config) { c.expect = n } }

// NoSync makes the Writer neither wait until the file is on the disk nor until its name is. After a
// loss of power the file may be empty or a part of itself.
func NoSync() Option { return func(c *config) { c.unsafe = true } }
