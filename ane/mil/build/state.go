package build

import "github.com/anekit/anekit/ane/mil"

// State adds a parameter that holds a tensor from one evaluation to the next. It belongs to the loaded program: it is
// all zero after a load, and no request binds memory to it. ReadState, WriteState and CoremlUpdateState take it.
func (f *Func) State(name string, d mil.DType, shape ...int) Value {
	return f.parameter("state", name, mil.StateOf(mil.TensorOf(d, shape...)))
}

// WriteState has a state hold x from this point of the function on.
func (f *Func) WriteState(state, x Value) {
	f.call("write_state", state, x).many(0)
}
