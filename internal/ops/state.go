package ops

// states read and write the tensor that a state parameter holds. Attrs is nil. The nodes that take a state run in
// the order of the text; a node's In has the state where the parameter stands.
var states = []*Def{
	{Name: "read_state", Doc: "returns the tensor that a state holds at this point of the function", Since: 18,
		Cost: Free, limits: stateLimits, Params: []*Param{tensor("input").state()}, infer: func(c *Call, s *Value) {
			c.gives(nil, s.DType, s.Shape)
		}},
	{Name: "write_state", Since: 18, limits: stateLimits, Effect: true, Params: []*Param{tensor("input").state(),
		tensor("data").any()}, infer: func(c *Call, x *Value) { c.holds("input", "data") }},
	{Name: "coreml_update_state", Doc: "is WriteState and ReadState in one: it returns value", Since: 18,
		limits: stateLimits, Effect: true, Params: []*Param{tensor("state").state(), tensor("value").any()},
		infer: func(c *Call, s *Value) {
			c.holds("state", "value")
			c.gives(nil, s.DType, s.Shape)
		}},
}

// holds checks that a state can hold a tensor.
func (c *Call) holds(name, value string) {
	s, v := c.Value(name), c.Value(value)
	if held := (&Value{DType: s.DType, Shape: s.Shape}).Type(); !held.Same(v.Type()) {
		c.refuse(value, "give it the type that the state holds", "%s where %s holds %s", v.Type(), s.Name, held)
	}
}
