;; A guest whose exports read, write and grow its memory, and end it.
(module
  (import "host" "call" (func $call))
  (memory (export "memory") 1 1024)
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
  (func (export "size") (result i32) (memory.size))
  (func (export "load") (param i32) (result i32) (i32.load (local.get 0)))
  (func (export "store") (param i32 i32) (i32.store (local.get 0) (local.get 1)))
  (func (export "fill") (param i32 i32 i32) (memory.fill (local.get 0) (local.get 1) (local.get 2)))
  ;; around stores, calls the host, and loads from the same place
  (func (export "around") (param i32 i32) (result i32)
    (i32.store (local.get 0) (local.get 1))
    (call $call)
    (i32.load (local.get 0)))
  (func (export "trap") (call $call) (unreachable))
  (func (export "spin") (loop $again (br $again))))
