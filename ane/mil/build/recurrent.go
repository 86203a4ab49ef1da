package build

// Recurrent operators run a cell over the first axis of x [S, B, I]. Core ML ran them on the CPU of an M4.

// Direction is the order of the steps of a recurrent operator.
type Direction string

// The directions.
const (
	Forward Direction = "forward" // the default
	// Reverse begins with the last element of x. The result has the order of the steps.
	Reverse Direction = "reverse"
)

// Squash is an activation of a recurrent operator.
type Squash string

// The activations.
const (
	SquashSigmoid     Squash = "sigmoid"
	SquashTanh        Squash = "tanh"
	SquashRelu        Squash = "relu"
	SquashLinear      Squash = "linear"
	SquashScaledTanh  Squash = "scaled_tanh"  // with factors of 1
	SquashSigmoidHard Squash = "sigmoid_hard" // 0.2 x + 0.5 within 0 and 1
)

// Cell holds the weights of a recurrent cell with H states. The rows of the gates follow one another: those of an LSTM
// are input, forget, output, cell; those of a GRU reset, output, update; an RNN has one.
type Cell struct {
	Input     Value // weight_ih [gates*H, I]
	Hidden    Value // weight_hh [gates*H, H]
	Bias      Value // [gates*H], or none
	InputBias Value // GRU: added outside the reset gate; or none
	Peephole  Value // LSTM: of the input, forget and output gate [3*H], or none
}

// RecurrentSettings are the settings of LSTM, GRU and RNN.
type RecurrentSettings struct {
	Direction  Direction
	Sequence   bool   // the first result has every step, not the last alone
	Gate       Squash // of the gates; SquashSigmoid if empty
	Memory     Squash // LSTM: of the cell gate; SquashTanh if empty
	Activation Squash // of the result; SquashTanh if empty
	ResetAfter bool   // GRU: the reset gate follows the product with the weights
	// Clip is the largest magnitude of the memory of an LSTM. 0 does not clip.
	Clip float64
	// Back is the second cell of a bidirectional LSTM, which runs in reverse. Its results follow those of the first on
	// the last axis. Direction is ignored.
	Back *Cell
}

func (s RecurrentSettings) direction() string {
	if s.Back != nil {
		return "bidirectional"
	}
	return string(s.Direction)
}

// Lstm runs a long short-term memory from states h and c [B, H]. It returns the states [S, B, H], or the last one
// [1, B, H], and the last states h and c.
func (f *Func) Lstm(x, h, c Value, w Cell, s RecurrentSettings) (states, lastH, lastC Value) {
	var back Cell
	if s.Back != nil {
		back = *s.Back
	}
	all := f.call("lstm", x, h, c, w.Input, w.Hidden, given(w.Bias), given(w.Peephole), given(back.Input),
		given(back.Hidden), given(back.Bias), given(back.Peephole), s.direction(), s.Sequence, string(s.Gate),
		string(s.Memory), string(s.Activation), given(s.Clip)).many(3)
	return all[0], all[1], all[2]
}

// Gru runs a gated recurrent unit from state h [B, H]. It returns the states [S, B, H], or the last one [1, B, H], and
// the last state [B, H].
func (f *Func) Gru(x, h Value, w Cell, s RecurrentSettings) (states, last Value) {
	return f.call("gru", x, h, w.Input, w.Hidden, given(w.Bias), given(w.InputBias), s.direction(), s.Sequence,
		string(s.Gate), string(s.Activation), s.ResetAfter).two()
}

// Rnn runs activation(Input x + Hidden h + Bias) from state h [B, H]. Results are those of Gru.
func (f *Func) Rnn(x, h Value, w Cell, s RecurrentSettings) (states, last Value) {
	return f.call("rnn", x, h, w.Input, w.Hidden, given(w.Bias), s.direction(), s.Sequence, string(s.Activation)).two()
}
