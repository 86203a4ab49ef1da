package build

import "github.com/anekit/anekit/ane/mil"

// State adds a parameter that holds a tensor from one evaluation to the next. It belongs to the loaded program: it is
// all zero after a load, and no request binds memory to it. ReadState, WriteState and CoremlUpdateState take it.
func (f *Func) State(name string, d mil.DType, shape ...int) Value {
	return f.parameter("state", name, mil.StateOf(mil.TensorOf(d, shape...)))
}

// ReadState returns the tensor that a state holds at this point of the function.
func (f *Func) ReadState(state Value) Value { return f.call("read_state").value("input", state).one() }

// WriteState has a state hold x from this point of the function on.
func (f *Func) WriteState(state, x Value) {
	f.call("write_state").value("input", state).value("data", x).many(0)
}

// CoremlUpdateState is WriteState and ReadState in one: it returns x.
func (f *Func) CoremlUpdateState(state, x Value) Value {
	return f.call("coreml_update_state").value("state", state).value("value", x).one()
}
