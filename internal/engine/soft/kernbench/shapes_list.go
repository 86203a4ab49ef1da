package main

// shapes has a line for each case: its name, inputs, result, statements, and its products if it is one of those.
const shapes = `
transpose [0,2,1,3], 16 heads of 64 | h[1,4096,16,64] x | h[1,16,4096,64] | y = transpose(x = x, perm = {0,2,1,3});
transpose [0,2,3,1] | h[1,256,128,128] x | h[1,128,128,256] | y = transpose(x = x, perm = {0,2,3,1});
transpose [0,3,1,2] | h[1,128,128,256] x | h[1,256,128,128] | y = transpose(x = x, perm = {0,3,1,2});
transpose [0,3,1,2], 3 channels | h[1,1024,1024,3] x | h[1,3,1024,1024] | y = transpose(x = x, perm = {0,3,1,2});
transpose [0,2,3,1], 3 channels | h[1,3,1024,1024] x | h[1,1024,1024,3] | y = transpose(x = x, perm = {0,2,3,1});
transpose [0,2,1,3], inner 8 | h[1,4096,128,8] x | h[1,128,4096,8] | y = transpose(x = x, perm = {0,2,1,3});
transpose [0,2,1,3], inner 48 | h[1,4096,16,48] x | h[1,16,4096,48] | y = transpose(x = x, perm = {0,2,1,3});
transpose rank 5 windows | h[16,8,32,8,96] x | h[16,32,8,8,96] | y = transpose(x = x, perm = {0,2,1,3,4});
transpose [0,2,1], fp32 | s[4,1024,1024] x | s[4,1024,1024] | y = transpose(x = x, perm = {0,2,1});
reduce_mean over channels | h[1,1024,1,4096] x | h[1,1,1,4096] | y = reduce_mean(x = x, axes = {1}, keep_dims = bool(true));
reduce_mean over planes | h[1,1024,64,64] x | h[1,1024,1,1] | y = reduce_mean(x = x, axes = {2,3}, keep_dims = bool(true));
reduce_mean over planes of 7 | h[64,1024,7,7] x | h[64,1024,1,1] | y = reduce_mean(x = x, axes = {2,3}, keep_dims = bool(true));
reduce_max, inner 8 | h[524288,8] x | h[524288,1] | y = reduce_max(x = x, axes = {1}, keep_dims = bool(true));
reduce_sum, inner 48 | h[87040,48] x | h[87040,1] | y = reduce_sum(x = x, axes = {1}, keep_dims = bool(true));
reduce_sum middle, inner 8 | h[4096,128,8] x | h[4096,1,8] | y = reduce_sum(x = x, axes = {1}, keep_dims = bool(true));
reduce_sum, fp32 | s[2048,1024] x | s[2048,1] | y = reduce_sum(x = x, axes = {1}, keep_dims = bool(true));
reduce_max, fp32, first axis | s[2048,1024] x | s[1,1024] | y = reduce_max(x = x, axes = {0}, keep_dims = bool(true));
reduce_sum, int32 | i[2048,1024] x | i[2048,1] | y = reduce_sum(x = x, axes = {1}, keep_dims = bool(true));
reduce_sum, int32, first axis | i[2048,1024] x | i[1,1024] | y = reduce_sum(x = x, axes = {0}, keep_dims = bool(true));
reduce_prod | h[4096,1024] x | h[4096,1] | y = reduce_prod(x = x, axes = {1}, keep_dims = bool(true));
reduce_log_sum_exp | h[4096,1024] x | h[4096,1] | y = reduce_log_sum_exp(x = x, axes = {1}, keep_dims = bool(true));
reduce_argmax | h[4096,1024] x | i[4096] | y = reduce_argmax(x = x, axis = int32(1), keep_dims = bool(false));
concat channels | h[1,256,64,64] x, h[1,256,64,64] z | h[1,512,64,64] | y = concat(values = (x, z), axis = int32(1), interleave = bool(false));
concat inner 48 | h[1,12,4096,48] x, h[1,12,4096,48] z | h[1,12,4096,96] | y = concat(values = (x, z), axis = int32(-1), interleave = bool(false));
concat inner 8 | h[262144,8] x, h[262144,8] z | h[262144,16] | y = concat(values = (x, z), axis = int32(-1), interleave = bool(false));
stack last | h[2097152] x, h[2097152] z | h[2097152,2] | y = stack(values = (x, z), axis = int32(-1));
split of three | h[4096,1536] x | h[4096,512] | h[4096,512] first, h[4096,512] second, y = split(x = x, num_splits = int32(3), axis = int32(1));
slice inner half of 64 | h[12,4096,64] x | h[12,4096,32] | y = slice_by_index(x = x, begin = {0,0,32}, end = {12,4096,64});
slice inner step 2 | h[4096,1024] x | h[4096,512] | y = slice_by_index(x = x, begin = {0,0}, end = {4096,1024}, stride = {1,2});
slice channels | h[1,512,64,64] x | h[1,128,64,64] | y = slice_by_index(x = x, begin = {0,128,0,0}, end = {1,256,64,64});
gather rows | h[8192,768] x, i[4096] z | h[4096,768] | y = gather(x = x, indices = z, axis = int32(0), batch_dims = int32(0), validate_indices = bool(false));
gather columns | h[1024,4096] x, i[1024] z | h[1024,1024] | y = gather(x = x, indices = z, axis = int32(1), batch_dims = int32(0), validate_indices = bool(false));
gather_along_axis | h[1024,1024] x, i[1024,1024] z | h[1024,1024] | y = gather_along_axis(x = x, indices = z, axis = int32(1), validate_indices = bool(false));
pad by 1 | h[1,256,112,112] x | h[1,256,114,114] | y = pad(x = x, pad = {1,1,1,1}, mode = 'constant', constant_val = fp16(0));
pad by 1, reflect | h[1,256,112,112] x | h[1,256,114,114] | y = pad(x = x, pad = {1,1,1,1}, mode = 'reflect', constant_val = fp16(0));
tile rows | h[1,1024,64] x | h[64,1024,64] | y = tile(x = x, reps = {64,1,1});
reverse | h[4096,1024] x | h[4096,1024] | y = reverse(x = x, axes = {1});
depth_to_space | h[1,256,128,128] x | h[1,64,256,256] | y = depth_to_space(x = x, block_size = int32(2));
pixel_shuffle | h[1,256,128,128] x | h[1,64,256,256] | y = pixel_shuffle(x = x, upscale_factor = int32(2));
space_to_depth | h[1,64,256,256] x | h[1,256,128,128] | y = space_to_depth(x = x, block_size = int32(2));
upsample nearest | h[1,64,128,128] x | h[1,64,256,256] | y = upsample_nearest_neighbor(x = x, scale_factor_height = int32(2), scale_factor_width = int32(2));
upsample bilinear | h[1,64,128,128] x | h[1,64,256,256] | y = upsample_bilinear(x = x, scale_factor_height = fp32(2), scale_factor_width = fp32(2), align_corners = bool(false));
softmax over 64 | h[65536,64] x | h[65536,64] | y = softmax(x = x, axis = int32(-1));
softmax axis 1 | h[1,1024,1,4096] x | h[1,1024,1,4096] | y = softmax(x = x, axis = int32(1));
softmax axis -2 | h[12,512,512] x | h[12,512,512] | y = softmax(x = x, axis = int32(-2));
softmax, fp32 | s[2048,1024] x | s[2048,1024] | y = softmax(x = x, axis = int32(-1));
layer_norm with gamma and beta | h[4096,4096] x, h[4096] g, h[4096] b | h[4096,4096] | y = layer_norm(x = x, axes = {1}, gamma = g, beta = b, epsilon = fp16(0.00001));
layer_norm over 768 | h[4096,768] x, h[768] g, h[768] b | h[4096,768] | y = layer_norm(x = x, axes = {1}, gamma = g, beta = b, epsilon = fp16(0.00001));
layer_norm over 48 | h[65536,48] x, h[48] g, h[48] b | h[65536,48] | y = layer_norm(x = x, axes = {1}, gamma = g, beta = b, epsilon = fp16(0.00001));
layer_norm over channels | h[1,1024,1,4096] x, h[1024] g, h[1024] b | h[1,1024,1,4096] | y = layer_norm(x = x, axes = {1}, gamma = g, beta = b, epsilon = fp16(0.00001));
layer_norm, fp32 | s[2048,1024] x, s[1024] g, s[1024] b | s[2048,1024] | y = layer_norm(x = x, axes = {1}, gamma = g, beta = b, epsilon = fp32(0.00001));
instance_norm | h[1,256,128,128] x, h[256] g, h[256] b | h[1,256,128,128] | y = instance_norm(x = x, gamma = g, beta = b, epsilon = fp16(0.00001));
batch_norm | h[1,256,128,128] x, h[256] m, h[256] v, h[256] g, h[256] b | h[1,256,128,128] | h[256] w = abs(x = v); y = batch_norm(x = x, mean = m, variance = w, gamma = g, beta = b, epsilon = fp16(0.00001));
l2_norm | h[64,64,32,32] x | h[64,64,32,32] | y = l2_norm(x = x, epsilon = fp16(0.00001));
rms norm by its operators | h[4096,1024] x, h[1024] g | h[4096,1024] | h[4096,1024] a = mul(x = x, y = x); h[4096,1] b = reduce_mean(x = a, axes = {-1}, keep_dims = bool(true)); h[4096,1] c = add(x = b, y = fp16(0.00001)); h[4096,1] d = rsqrt(x = c, epsilon = fp16(0.0)); h[4096,1024] e = mul(x = x, y = d); y = mul(x = e, y = g);
silu as x * sigmoid(x) | h[4096,1024] x | h[4096,1024] | h[4096,1024] a = sigmoid(x = x); y = mul(x = x, y = a);
rope by slices | h[1,16,4096,64] x, h[1,1,4096,64] c, h[1,1,4096,64] s | h[1,16,4096,64] | h[1,16,4096,32] a = slice_by_index(x = x, begin = {0,0,0,0}, end = {1,16,4096,32}); h[1,16,4096,32] b = slice_by_index(x = x, begin = {0,0,0,32}, end = {1,16,4096,64}); h[1,16,4096,32] n = mul(x = b, y = fp16(-1)); h[1,16,4096,64] r = concat(values = (n, a), axis = int32(-1), interleave = bool(false)); h[1,16,4096,64] t = mul(x = x, y = c); h[1,16,4096,64] u = mul(x = r, y = s); y = add(x = t, y = u);
add bias of rows | h[4096,768] x, h[768] z | h[4096,768] | y = add(x = x, y = z);
add bias of channels | h[1,512,64,64] x, h[1,512,1,1] z | h[1,512,64,64] | y = add(x = x, y = z);
add a row of 8 | h[524288,8] x, h[8] z | h[524288,8] | y = add(x = x, y = z);
add a row of 48 | h[87040,48] x, h[48] z | h[87040,48] | y = add(x = x, y = z);
mul by a column, inner 8 | h[524288,8] x, h[524288,1] z | h[524288,8] | y = mul(x = x, y = z);
mul outer | h[2048,1] x, h[1,2048] z | h[2048,2048] | y = mul(x = x, y = z);
add, fp32 | s[2048,1024] x, s[2048,1024] z | s[2048,1024] | y = add(x = x, y = z);
real_div, fp32 | s[2048,1024] x, s[2048,1024] z | s[2048,1024] | y = real_div(x = x, y = z);
add bias of rows, fp32 | s[2048,1024] x, s[1024] z | s[2048,1024] | y = add(x = x, y = z);
add, int32 | i[2048,1024] x, i[2048,1024] z | i[2048,1024] | y = add(x = x, y = z);
pow 2 | h[4096,1024] x | h[4096,1024] | y = pow(x = x, y = fp16(2));
floor_div | h[4096,1024] x, h[4096,1024] z | h[4096,1024] | y = floor_div(x = x, y = z);
relu, fp32 | s[2048,1024] x | s[2048,1024] | y = relu(x = x);
sigmoid, fp32 | s[2048,1024] x | s[2048,1024] | y = sigmoid(x = x);
exp, fp32 | s[2048,1024] x | s[2048,1024] | y = exp(x = x);
tanh, fp32 | s[2048,1024] x | s[2048,1024] | y = tanh(x = x);
gelu, fp32 | s[2048,1024] x | s[2048,1024] | y = gelu(x = x, mode = 'EXACT');
rsqrt, fp32 | s[2048,1024] x | s[2048,1024] | y = rsqrt(x = x, epsilon = fp32(0.00001));
sqrt | h[4096,1024] x | h[4096,1024] | y = sqrt(x = x);
square | h[4096,1024] x | h[4096,1024] | y = square(x = x);
leaky_relu | h[4096,1024] x | h[4096,1024] | y = leaky_relu(x = x, alpha = fp16(0.1));
prelu | h[1,256,128,128] x | h[1,256,128,128] | h[256] a = fill(shape = {256}, value = fp16(0.25)); y = prelu(x = x, alpha = a);
greater | h[4096,1024] x, h[4096,1024] z | b[4096,1024] | y = greater(x = x, y = z);
select | h[4096,1024] x, h[4096,1024] z | h[4096,1024] | b[4096,1024] c = greater(x = x, y = fp16(0)); y = select(cond = c, a = x, b = z);
cast to fp32 | h[4096,1024] x | s[4096,1024] | y = cast(x = x, dtype = 'fp32');
cast to fp16 | s[4096,1024] x | h[4096,1024] | y = cast(x = x, dtype = 'fp16');
cast int32 to fp16 | i[4096,1024] x | h[4096,1024] | y = cast(x = x, dtype = 'fp16');
cast fp16 to int32 | h[4096,1024] x | i[4096,1024] | y = cast(x = x, dtype = 'int32');
cumsum | h[4096,1024] x | h[4096,1024] | y = cumsum(x = x, axis = int32(1), exclusive = bool(false), reverse = bool(false));
max_pool 2x2, stride 2 | h[1,64,256,256] x | h[1,64,128,128] | y = max_pool(x = x, kernel_sizes = {2,2}, strides = {2,2}, pad_type = 'valid', pad = {0,0,0,0}, ceil_mode = bool(false));
max_pool 3x3, stride 2 | h[1,64,256,256] x | h[1,64,128,128] | y = max_pool(x = x, kernel_sizes = {3,3}, strides = {2,2}, pad_type = 'same');
avg_pool 2x2, stride 2 | h[1,64,256,256] x | h[1,64,128,128] | y = avg_pool(x = x, kernel_sizes = {2,2}, strides = {2,2}, pad_type = 'valid', pad = {0,0,0,0}, exclude_padding_from_average = bool(false), ceil_mode = bool(false));
avg_pool 3x3, stride 1 | h[1,64,128,128] x | h[1,64,128,128] | y = avg_pool(x = x, kernel_sizes = {3,3}, strides = {1,1}, pad_type = 'same', exclude_padding_from_average = bool(true));
avg_pool of planes | h[64,1024,7,7] x | h[64,1024,1,1] | y = avg_pool(x = x, kernel_sizes = {7,7}, strides = {1,1}, pad_type = 'valid', exclude_padding_from_average = bool(false));
matmul batch 12 | h[12,256,64] x, h[12,64,256] z | h[12,256,256] | y = matmul(x = x, y = z); | 50331648
matmul batch 12, transpose_y | h[12,256,64] x, h[12,256,64] z | h[12,256,256] | y = matmul(x = x, y = z, transpose_y = bool(true)); | 50331648
matmul batch 12, transpose_x | h[12,64,256] x, h[12,64,256] z | h[12,256,256] | y = matmul(x = x, y = z, transpose_x = bool(true)); | 50331648
matmul batch 12, both | h[12,64,256] x, h[12,256,64] z | h[12,256,256] | y = matmul(x = x, y = z, transpose_x = bool(true), transpose_y = bool(true)); | 50331648
matmul batch 12 of probabilities | h[12,256,256] x, h[12,256,64] z | h[12,256,64] | y = matmul(x = x, y = z); | 50331648
matmul batch 12, 1 row | h[12,1,64] x, h[12,2048,64] z | h[12,1,2048] | y = matmul(x = x, y = z, transpose_y = bool(true)); | 1572864
matmul, fp32 | s[512,512] x, s[512,512] z | s[512,512] | y = matmul(x = x, y = z); | 134217728
einsum nchw,nwhu->nchu | h[1,64,8,256] x, h[1,256,8,256] z | h[1,64,8,256] | y = einsum(equation = 'nchw,nwhu->nchu', values = (x, z)); | 33554432
conv 1x1, stride 2 | h[1,128,56,56] x, h[128,128,1,1] w | h[1,128,28,28] | y = conv(x = x, weight = w, strides = {2,2}, pad_type = 'valid'); | 12845056
conv 3x3, stride 2 | h[1,64,112,112] x, h[64,64,3,3] w | h[1,64,56,56] | y = conv(x = x, weight = w, strides = {2,2}, pad_type = 'same'); | 115605504
conv 7x7, stride 2, 3 channels | h[1,3,224,224] x, h[64,3,7,7] w | h[1,64,112,112] | y = conv(x = x, weight = w, strides = {2,2}, pad_type = 'same'); | 118013952
conv 3x3, 32 groups | h[1,128,56,56] x, h[128,4,3,3] w | h[1,128,56,56] | y = conv(x = x, weight = w, groups = int32(32), pad_type = 'same'); | 14450688
conv 3x3, depthwise | h[1,128,56,56] x, h[128,1,3,3] w | h[1,128,56,56] | y = conv(x = x, weight = w, groups = int32(128), pad_type = 'same'); | 3612672
conv 3x3, depthwise, stride 2 | h[1,128,112,112] x, h[128,1,3,3] w | h[1,128,56,56] | y = conv(x = x, weight = w, groups = int32(128), strides = {2,2}, pad_type = 'same'); | 3612672
conv 1x1 of a row | h[1,768,1,256] x, h[768,768,1,1] w | h[1,768,1,256] | y = conv(x = x, weight = w, pad_type = 'valid'); | 150994944
conv 1d of 3 | h[1,256,1,1024] x, h[256,256,1,3] w | h[1,256,1,1024] | y = conv(x = x, weight = w, pad_type = 'same'); | 201326592
conv_transpose 2x2, stride 2 | h[1,64,56,56] x, h[64,64,2,2] w | h[1,64,112,112] | y = conv_transpose(x = x, weight = w, strides = {2,2}, pad_type = 'valid'); | 51380224
`
