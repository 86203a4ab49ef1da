;; A guest that has the GPU multiply two matrices where they are: it fills A and B, calls the host with its own pointers,
;; and reads C through the pointer that it passed. run returns the number of wrong elements.
(module
  (import "gpu" "product" (func $product (param i32 i32 i32 i32)))
  (memory (export "memory") 4 64)
  (global $n i32 (i32.const 128))
  (global $a i32 (i32.const 0x10000))
  (global $b i32 (i32.const 0x20000))
  (global $c i32 (i32.const 0x30000))

  ;; at returns the address of element i of a matrix.
  (func $at (param $m i32) (param $i i32) (result i32)
    (i32.add (local.get $m) (i32.shl (local.get $i) (i32.const 2))))

  (func $fill (local $i i32)
    (loop $next
      (f32.store (call $at (global.get $a) (local.get $i))
        (f32.convert_i32_s (i32.sub (i32.rem_u (local.get $i) (i32.const 17)) (i32.const 8))))
      (f32.store (call $at (global.get $b) (local.get $i))
        (f32.convert_i32_s (i32.sub (i32.rem_u (local.get $i) (i32.const 13)) (i32.const 6))))
      (f32.store (call $at (global.get $c) (local.get $i)) (f32.const nan))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (i32.mul (global.get $n) (global.get $n))))))

  ;; want is an element of the product.
  (func $want (param $r i32) (param $c i32) (result f32) (local $k i32) (local $sum f32)
    (loop $next
      (local.set $sum (f32.add (local.get $sum) (f32.mul
        (f32.load (call $at (global.get $a)
          (i32.add (i32.mul (local.get $r) (global.get $n)) (local.get $k))))
        (f32.load (call $at (global.get $b)
          (i32.add (i32.mul (local.get $k) (global.get $n)) (local.get $c)))))))
      (local.set $k (i32.add (local.get $k) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $k) (global.get $n))))
    (local.get $sum))

  (func $wrong (result i32) (local $i i32) (local $errors i32)
    (loop $next
      (local.set $errors (i32.add (local.get $errors) (f32.ne
        (f32.load (call $at (global.get $c) (local.get $i)))
        (call $want (i32.div_u (local.get $i) (global.get $n)) (i32.rem_u (local.get $i) (global.get $n))))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (i32.mul (global.get $n) (global.get $n)))))
    (local.get $errors))

  (func (export "run") (result i32)
    (call $fill)
    (call $product (global.get $a) (global.get $b) (global.get $c) (global.get $n))
    (call $wrong)))
