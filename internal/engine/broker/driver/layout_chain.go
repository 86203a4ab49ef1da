package driver

import "github.com/anekit/anekit/internal/engine/driverabi"

// Resident submission: a chain is a prepared program whose output surfaces are named
// ahead of the inputs. Output sets wait in the order in which they were enqueued;
// inputs-ready takes the first of them and runs the program, as a request without a
// port. It answers when the outputs are written. Requests of a chain have numbers of
// their own, which the driver does not compare; StopChain ends the one in flight. Setting
// the procedure begins a chain again, without output sets.

// MaxOutputs is how many surfaces an output set has at most: what fits its 40 bytes.
const MaxOutputs = 6

// MaxOutputSets is how many output sets of one chain may wait: as many as requests.
const MaxOutputSets = driverabi.QueueDepth

// Chain asks for the chain of a program. Ours: +0x00 token of the program; in the
// answer +0x00 token of the chain, +0x08 how many output sets may wait.
type Chain struct {
	Token uint64
	Sets  uint32
}

// Encode writes the question to s.
func (x Chain) Encode(s *driverabi.ChainingPrepare) { le.PutUint64(s.Raw[0:], x.Token) }

func (x *Chain) decode(s *driverabi.ChainingPrepare) { x.Token = le.Uint64(s.Raw[0:]) }

func (x Chain) encode(s *driverabi.ChainingPrepareReply) {
	le.PutUint64(s.Raw[0:], x.Token)
	le.PutUint32(s.Raw[8:], x.Sets)
}

// Decode reads the answer from s.
func (x *Chain) Decode(s *driverabi.ChainingPrepareReply) {
	x.Token, x.Sets = le.Uint64(s.Raw[0:]), le.Uint32(s.Raw[8:])
}

// OutputSet is the outputs of one future run. Ours: +0x00 token of the chain, +0x08
// count, from +0x10 the surface identifiers, 32 bits each.
type OutputSet struct {
	Chain    uint64
	Surfaces []uint32
}

// Encode writes x to s; an error of driverabi that matches ErrRange for more than
// MaxOutputs.
func (x OutputSet) Encode(s *driverabi.OutputSetEnqueue) error {
	if len(x.Surfaces) > MaxOutputs {
		return &driverabi.Error{Structure: "OutputSetEnqueue surfaces", Want: MaxOutputs, Have: uint64(len(x.Surfaces)),
			Hint: "send the request with selector 2", Err: driverabi.ErrRange}
	}
	le.PutUint64(s.Raw[0:], x.Chain)
	le.PutUint32(s.Raw[8:], uint32(len(x.Surfaces)))
	for i, id := range x.Surfaces {
		le.PutUint32(s.Raw[16+4*i:], id)
	}
	return nil
}

// decode reads x from s; false for a bad count.
func (x *OutputSet) decode(s *driverabi.OutputSetEnqueue) bool {
	x.Chain = le.Uint64(s.Raw[0:])
	n := le.Uint32(s.Raw[8:])
	if n == 0 || n > MaxOutputs {
		return false
	}
	for i := range int(n) {
		x.Surfaces = append(x.Surfaces, le.Uint32(s.Raw[16+4*i:]))
	}
	return true
}

// PutInputsReady writes an inputs-ready structure. Ours: its first 2376 bytes are laid
// out as a request, with the chain's token for the program's and with the inputs for
// its surfaces.
func PutInputsReady(s *driverabi.InputsReady, r *driverabi.SendRequest) error {
	return r.Encode(s.Raw[:driverabi.SendRequestSize])
}

// Procedure is what SetActiveProcedure takes. Ours: +0x00 token of the chain, +0x08
// number of the procedure. A program of this driver has procedure 0 alone.
type Procedure struct {
	Chain  uint64
	Number uint32
}

// Encode writes x to s.
func (x Procedure) Encode(s *driverabi.SetActiveProcedure) {
	le.PutUint64(s.Raw[0:], x.Chain)
	le.PutUint32(s.Raw[8:], x.Number)
}

func (x *Procedure) decode(s *driverabi.SetActiveProcedure) {
	x.Chain, x.Number = le.Uint64(s.Raw[0:]), le.Uint32(s.Raw[8:])
}
