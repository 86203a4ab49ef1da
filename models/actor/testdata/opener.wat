;; A guest whose _initialize opens a sampler, which the first call closes. Its third call traps after it has changed its
;; memory.
(module
  (import "anekit" "sampler_open" (func $open (param f32 f32 i64) (result i32)))
  (import "anekit" "sampler_close" (func $close (param i32) (result i32)))
  (memory (export "memory") 1 1)
  (global $sampler (mut i32) (i32.const 0))
  (func (export "_initialize")
    (global.set $sampler (call $open (f32.const 0) (f32.const 1) (i64.const 1))))
  (func (export "next") (result i32)
    (if (global.get $sampler) (then
      (drop (call $close (global.get $sampler)))
      (global.set $sampler (i32.const 0))))
    (i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (i32.const 1)))
    (if (i32.eq (i32.load (i32.const 8)) (i32.const 3)) (then unreachable))
    (i32.load (i32.const 8))))
