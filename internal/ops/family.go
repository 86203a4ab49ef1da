package ops

// Family says what kind of operator a Def is.
type Family uint8

// The families.
const (
	Unaries     Family = iota + 1 // each element of one tensor: relu, round, logical_not
	Binaries                      // elements of tensors of one shape: add, less, logical_and, select
	Reductions                    // elements along axes to one: reduce_sum, reduce_argmax
	Norms                         // layer_norm, softmax
	Products                      // conv, matmul, einsum, scaled_dot_product_attention
	Pools                         // max_pool
	Views                         // the same elements in another shape: reshape
	Movements                     // elements to other places: transpose, concat, pad
	Slices                        // slice_by_index, slice_by_size
	Indexing                      // places that a tensor tells: gather, scatter, slice_update, topk
	Detections                    // what ends detectors and classifiers: non_maximum_suppression, classify
	Sampling                      // between elements: resize, affine
	Conversions                   // other element types: cast, quantize
	Generators                    // new tensors: fill, range_1d, one_hot, random_normal
	Recurrents                    // lstm, gru, rnn
	States                        // read_state
	Constexprs                    // constants from a shorter form
	Lists                         // make_list
	Controls                      // cond, while_loop
)

// Cost says what an operator costs on the engine beside the bytes it reads and writes.
type Cost uint8

// The classes of cost.
const (
	Pass       Cost = iota + 1 // a pass of the elementwise unit
	Free                       // nothing: no element moves
	Function                   // nothing after a layer with products, which applies it to its result; else a pass
	Twice                      // two passes
	Multiplies                 // products
	Moves                      // a pass that copies elements without computing any
)
