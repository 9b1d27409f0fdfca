module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x32xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<32x64xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<32xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<32x4xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<4x32x32xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<4x32x32xf32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<64x32xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<32x64xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<32xf32> {tf.aliasing_output = 8 : i32}, %arg9: tensor<32x4xf32> {tf.aliasing_output = 9 : i32}, %arg10: tensor<4x32x32xf32> {tf.aliasing_output = 10 : i32}, %arg11: tensor<4x32x32xf32> {tf.aliasing_output = 11 : i32}, %arg12: tensor<64x32xf32> {tf.aliasing_output = 12 : i32}, %arg13: tensor<32x64xf32> {tf.aliasing_output = 13 : i32}, %arg14: tensor<32xf32> {tf.aliasing_output = 14 : i32}, %arg15: tensor<32x4xf32> {tf.aliasing_output = 15 : i32}, %arg16: tensor<4x32x32xf32> {tf.aliasing_output = 16 : i32}, %arg17: tensor<4x32x32xf32> {tf.aliasing_output = 17 : i32}, %arg18: tensor<8x16xi32>, %arg19: tensor<8x16xi32>) -> (tensor<64x32xf32> {jax.result_info = "result[0][0]['emb']"}, tensor<32x64xf32> {jax.result_info = "result[0][0]['head']"}, tensor<32xf32> {jax.result_info = "result[0][0]['n']"}, tensor<32x4xf32> {jax.result_info = "result[0][0]['router']"}, tensor<4x32x32xf32> {jax.result_info = "result[0][0]['w1']"}, tensor<4x32x32xf32> {jax.result_info = "result[0][0]['w2']"}, tensor<64x32xf32> {jax.result_info = "result[0][1]['emb']"}, tensor<32x64xf32> {jax.result_info = "result[0][1]['head']"}, tensor<32xf32> {jax.result_info = "result[0][1]['n']"}, tensor<32x4xf32> {jax.result_info = "result[0][1]['router']"}, tensor<4x32x32xf32> {jax.result_info = "result[0][1]['w1']"}, tensor<4x32x32xf32> {jax.result_info = "result[0][1]['w2']"}, tensor<64x32xf32> {jax.result_info = "result[0][2]['emb']"}, tensor<32x64xf32> {jax.result_info = "result[0][2]['head']"}, tensor<32xf32> {jax.result_info = "result[0][2]['n']"}, tensor<32x4xf32> {jax.result_info = "result[0][2]['router']"}, tensor<4x32x32xf32> {jax.result_info = "result[0][2]['w1']"}, tensor<4x32x32xf32> {jax.result_info = "result[0][2]['w2']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<64x32xf32>) -> tensor<64x32xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x16xi32>
    %2 = stablehlo.compare LT, %arg18, %1, SIGNED : (tensor<8x16xi32>, tensor<8x16xi32>) -> tensor<8x16xi1>
    %c_0 = stablehlo.constant dense<64> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x16xi32>
    %4 = stablehlo.add %arg18, %3 : tensor<8x16xi32>
    %5 = stablehlo.select %2, %4, %arg18 : tensor<8x16xi1>, tensor<8x16xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<8x16xi32>) -> tensor<8x16x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xbf16>, tensor<8x16x1xi32>) -> tensor<8x16x32xbf16>
    %8 = stablehlo.convert %7 : (tensor<8x16x32xbf16>) -> tensor<8x16x32xf32>
    %9 = chlo.square %8 : tensor<8x16x32xf32> -> tensor<8x16x32xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16x32xf32>
    %11 = stablehlo.multiply %10, %8 : tensor<8x16x32xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<8x16x32xf32>, tensor<f32>) -> tensor<8x16xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %cst_2 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %15 = stablehlo.divide %13, %14 : tensor<8x16x1xf32>
    %cst_3 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %17 = stablehlo.add %15, %16 : tensor<8x16x1xf32>
    %18 = stablehlo.rsqrt %17 : tensor<8x16x1xf32>
    %19 = stablehlo.divide %18, %17 : tensor<8x16x1xf32>
    %cst_4 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %21 = stablehlo.multiply %20, %19 : tensor<8x16x1xf32>
    %22 = stablehlo.convert %18 : (tensor<8x16x1xf32>) -> tensor<8x16x1xbf16>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<8x16x1xbf16>) -> tensor<8x16x32xbf16>
    %24 = stablehlo.multiply %7, %23 : tensor<8x16x32xbf16>
    %25 = stablehlo.convert %arg2 : (tensor<32xf32>) -> tensor<32xbf16>
    %26 = stablehlo.broadcast_in_dim %25, dims = [2] : (tensor<32xbf16>) -> tensor<1x1x32xbf16>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2] : (tensor<1x1x32xbf16>) -> tensor<8x16x32xbf16>
    %28 = stablehlo.multiply %24, %27 : tensor<8x16x32xbf16>
    %29 = stablehlo.convert %arg3 : (tensor<32x4xf32>) -> tensor<32x4xbf16>
    %30 = stablehlo.dot_general %28, %29, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xbf16>, tensor<32x4xbf16>) -> tensor<8x16x4xbf16>
    %31 = stablehlo.convert %30 : (tensor<8x16x4xbf16>) -> tensor<8x16x4xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %32 = stablehlo.reduce(%31 init: %cst_5) applies stablehlo.maximum across dimensions = [2] : (tensor<8x16x4xf32>, tensor<f32>) -> tensor<8x16xf32>
    %33 = stablehlo.reshape %32 : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x4xf32>
    %35 = stablehlo.compare EQ, %31, %34, FLOAT : (tensor<8x16x4xf32>, tensor<8x16x4xf32>) -> tensor<8x16x4xi1>
    %36 = stablehlo.convert %35 : (tensor<8x16x4xi1>) -> tensor<8x16x4xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_6) applies stablehlo.add across dimensions = [2] : (tensor<8x16x4xf32>, tensor<f32>) -> tensor<8x16xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %39 = stablehlo.maximum %38, %32 : tensor<8x16xf32>
    %40 = stablehlo.compare EQ, %32, %39, FLOAT : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %43 = stablehlo.select %40, %41, %42 : tensor<8x16xi1>, tensor<8x16xf32>
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %45 = stablehlo.compare EQ, %44, %39, FLOAT : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %cst_11 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %48 = stablehlo.select %45, %46, %47 : tensor<8x16xi1>, tensor<8x16xf32>
    %49 = stablehlo.divide %43, %48 : tensor<8x16xf32>
    %50 = stablehlo.broadcast_in_dim %39, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x4xf32>
    %52 = stablehlo.subtract %31, %51 : tensor<8x16x4xf32>
    %53 = stablehlo.exponential %52 : tensor<8x16x4xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.reduce(%53 init: %cst_13) applies stablehlo.add across dimensions = [2] : (tensor<8x16x4xf32>, tensor<f32>) -> tensor<8x16xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x4xf32>
    %57 = stablehlo.divide %53, %56 : tensor<8x16x4xf32>
    %58 = stablehlo.multiply %55, %55 : tensor<8x16x1xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %60 = stablehlo.divide %59, %58 : tensor<8x16x1xf32>
    %61 = call @argmax(%57) : (tensor<8x16x4xf32>) -> tensor<8x16xi32>
    %62 = call @_one_hot(%61) : (tensor<8x16xi32>) -> tensor<8x16x4xf32>
    %63 = call @cumsum(%62) : (tensor<8x16x4xf32>) -> tensor<8x16x4xf32>
    %64 = stablehlo.multiply %63, %62 : tensor<8x16x4xf32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<8x16x4xf32>
    %66 = stablehlo.subtract %64, %65 : tensor<8x16x4xf32>
    %67 = stablehlo.convert %66 : (tensor<8x16x4xf32>) -> tensor<8x16x4xi32>
    %68 = call @_one_hot_1(%67) : (tensor<8x16x4xi32>) -> tensor<8x16x4x8xbf16>
    %69 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2] : (tensor<8x16x4xf32>) -> tensor<8x16x4x1xf32>
    %70 = stablehlo.convert %69 : (tensor<8x16x4x1xf32>) -> tensor<8x16x4x1xbf16>
    %71 = stablehlo.broadcast_in_dim %70, dims = [0, 1, 2, 3] : (tensor<8x16x4x1xbf16>) -> tensor<8x16x4x8xbf16>
    %72 = stablehlo.multiply %68, %71 : tensor<8x16x4x8xbf16>
    %73 = stablehlo.multiply %57, %62 : tensor<8x16x4xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %74 = stablehlo.reduce(%73 init: %cst_16) applies stablehlo.add across dimensions = [2] : (tensor<8x16x4xf32>, tensor<f32>) -> tensor<8x16xf32>
    %75 = stablehlo.broadcast_in_dim %74, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1x1xf32>
    %76 = stablehlo.convert %75 : (tensor<8x16x1x1xf32>) -> tensor<8x16x1x1xbf16>
    %77 = stablehlo.broadcast_in_dim %76, dims = [0, 1, 2, 3] : (tensor<8x16x1x1xbf16>) -> tensor<8x16x4x8xbf16>
    %78 = stablehlo.multiply %72, %77 : tensor<8x16x4x8xbf16>
    %79 = stablehlo.dot_general %28, %72, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xbf16>, tensor<8x16x4x8xbf16>) -> tensor<8x32x4x8xbf16>
    %80 = stablehlo.transpose %79, dims = [2, 0, 3, 1] : (tensor<8x32x4x8xbf16>) -> tensor<4x8x8x32xbf16>
    %81 = stablehlo.convert %arg4 : (tensor<4x32x32xf32>) -> tensor<4x32x32xbf16>
    %82 = stablehlo.dot_general %80, %81, batching_dims = [0] x [0], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x8x32xbf16>, tensor<4x32x32xbf16>) -> tensor<4x8x8x32xbf16>
    %83 = stablehlo.multiply %82, %82 : tensor<4x8x8x32xbf16>
    %84 = stablehlo.multiply %83, %82 : tensor<4x8x8x32xbf16>
    %85 = stablehlo.multiply %82, %82 : tensor<4x8x8x32xbf16>
    %cst_17 = stablehlo.constant dense<3.000000e+00> : tensor<bf16>
    %86 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<bf16>) -> tensor<4x8x8x32xbf16>
    %87 = stablehlo.multiply %86, %85 : tensor<4x8x8x32xbf16>
    %cst_18 = stablehlo.constant dense<4.467770e-02> : tensor<bf16>
    %88 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<bf16>) -> tensor<4x8x8x32xbf16>
    %89 = stablehlo.multiply %88, %84 : tensor<4x8x8x32xbf16>
    %90 = stablehlo.add %82, %89 : tensor<4x8x8x32xbf16>
    %cst_19 = stablehlo.constant dense<7.968750e-01> : tensor<bf16>
    %91 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<bf16>) -> tensor<4x8x8x32xbf16>
    %92 = stablehlo.multiply %91, %90 : tensor<4x8x8x32xbf16>
    %93 = stablehlo.tanh %92 : tensor<4x8x8x32xbf16>
    %cst_20 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %94 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<bf16>) -> tensor<4x8x8x32xbf16>
    %95 = stablehlo.subtract %94, %93 : tensor<4x8x8x32xbf16>
    %cst_21 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %96 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<bf16>) -> tensor<4x8x8x32xbf16>
    %97 = stablehlo.add %96, %93 : tensor<4x8x8x32xbf16>
    %cst_22 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %98 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<bf16>) -> tensor<4x8x8x32xbf16>
    %99 = stablehlo.multiply %98, %97 : tensor<4x8x8x32xbf16>
    %100 = stablehlo.multiply %82, %99 : tensor<4x8x8x32xbf16>
    %101 = stablehlo.convert %arg5 : (tensor<4x32x32xf32>) -> tensor<4x32x32xbf16>
    %102 = stablehlo.dot_general %100, %101, batching_dims = [0] x [0], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x8x8x32xbf16>, tensor<4x32x32xbf16>) -> tensor<4x8x8x32xbf16>
    %103 = stablehlo.dot_general %78, %102, batching_dims = [0] x [1], contracting_dims = [3, 2] x [2, 0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4x8xbf16>, tensor<4x8x8x32xbf16>) -> tensor<8x16x32xbf16>
    %104 = stablehlo.add %7, %103 : tensor<8x16x32xbf16>
    %105 = stablehlo.convert %arg1 : (tensor<32x64xf32>) -> tensor<32x64xbf16>
    %106 = stablehlo.dot_general %104, %105, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xbf16>, tensor<32x64xbf16>) -> tensor<8x16x64xbf16>
    %107 = stablehlo.convert %106 : (tensor<8x16x64xbf16>) -> tensor<8x16x64xf32>
    %cst_23 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %108 = stablehlo.reduce(%107 init: %cst_23) applies stablehlo.maximum across dimensions = [2] : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16xf32>
    %109 = stablehlo.reshape %108 : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %110 = stablehlo.broadcast_in_dim %109, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x64xf32>
    %111 = stablehlo.compare EQ, %107, %110, FLOAT : (tensor<8x16x64xf32>, tensor<8x16x64xf32>) -> tensor<8x16x64xi1>
    %112 = stablehlo.convert %111 : (tensor<8x16x64xi1>) -> tensor<8x16x64xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %113 = stablehlo.reduce(%112 init: %cst_24) applies stablehlo.add across dimensions = [2] : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16xf32>
    %cst_25 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %115 = stablehlo.maximum %114, %108 : tensor<8x16xf32>
    %116 = stablehlo.compare EQ, %108, %115, FLOAT : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %118 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %119 = stablehlo.select %116, %117, %118 : tensor<8x16xi1>, tensor<8x16xf32>
    %cst_28 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %121 = stablehlo.compare EQ, %120, %115, FLOAT : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %cst_29 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %cst_30 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %123 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %124 = stablehlo.select %121, %122, %123 : tensor<8x16xi1>, tensor<8x16xf32>
    %125 = stablehlo.divide %119, %124 : tensor<8x16xf32>
    %126 = stablehlo.is_finite %115 : (tensor<8x16xf32>) -> tensor<8x16xi1>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %128 = stablehlo.select %126, %115, %127 : tensor<8x16xi1>, tensor<8x16xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %129 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %130 = stablehlo.broadcast_in_dim %128, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %131 = stablehlo.broadcast_in_dim %130, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x64xf32>
    %132 = stablehlo.subtract %107, %131 : tensor<8x16x64xf32>
    %133 = stablehlo.exponential %132 : tensor<8x16x64xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %134 = stablehlo.reduce(%133 init: %cst_33) applies stablehlo.add across dimensions = [2] : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16xf32>
    %135 = stablehlo.sign %134 : tensor<8x16xf32>
    %136 = stablehlo.abs %134 : tensor<8x16xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %138 = stablehlo.compare GE, %134, %137, FLOAT : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
    %139 = stablehlo.log %136 : tensor<8x16xf32>
    %140 = stablehlo.add %139, %128 : tensor<8x16xf32>
    %141 = stablehlo.broadcast_in_dim %arg19, dims = [0, 1] : (tensor<8x16xi32>) -> tensor<8x16x1xi32>
    %142 = stablehlo.iota dim = 2 : tensor<8x16x64xi32>
    %143 = stablehlo.broadcast_in_dim %141, dims = [0, 1, 2] : (tensor<8x16x1xi32>) -> tensor<8x16x64xi32>
    %144 = stablehlo.compare EQ, %143, %142, SIGNED : (tensor<8x16x64xi32>, tensor<8x16x64xi32>) -> tensor<8x16x64xi1>
    %c_35 = stablehlo.constant dense<0> : tensor<i32>
    %145:2 = call @_where(%144, %107, %c_35) : (tensor<8x16x64xi1>, tensor<8x16x64xf32>, tensor<i32>) -> (tensor<8x16x64xf32>, tensor<8x16x64xf32>)
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %146 = stablehlo.reduce(%145#0 init: %cst_36) applies stablehlo.add across dimensions = [2] : (tensor<8x16x64xf32>, tensor<f32>) -> tensor<8x16xf32>
    %147 = stablehlo.subtract %140, %146 : tensor<8x16xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %148 = stablehlo.reduce(%147 init: %cst_37) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_38 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %149 = stablehlo.divide %148, %cst_38 : tensor<f32>
    %cst_39 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_40 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %150 = stablehlo.divide %cst_39, %cst_40 : tensor<f32>
    %151 = stablehlo.broadcast_in_dim %150, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %152 = stablehlo.negate %151 : tensor<8x16xf32>
    %153 = stablehlo.broadcast_in_dim %152, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x64xf32>
    %154 = call @_where_2(%144, %145#1, %153) : (tensor<8x16x64xi1>, tensor<8x16x64xf32>, tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
    %155 = stablehlo.divide %151, %136 : tensor<8x16xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %156 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %157 = stablehlo.select %138, %156, %155 : tensor<8x16xi1>, tensor<8x16xf32>
    %158 = stablehlo.select %138, %155, %156 : tensor<8x16xi1>, tensor<8x16xf32>
    %159 = stablehlo.negate %157 : tensor<8x16xf32>
    %160 = stablehlo.add %158, %159 : tensor<8x16xf32>
    %161 = stablehlo.broadcast_in_dim %160, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x64xf32>
    %162 = stablehlo.multiply %161, %133 : tensor<8x16x64xf32>
    %163 = stablehlo.add %154, %162 : tensor<8x16x64xf32>
    %164 = stablehlo.convert %163 : (tensor<8x16x64xf32>) -> tensor<8x16x64xbf16>
    %165 = stablehlo.dot_general %164, %104, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xbf16>, tensor<8x16x32xbf16>) -> tensor<64x32xbf16>
    %166 = stablehlo.transpose %165, dims = [1, 0] : (tensor<64x32xbf16>) -> tensor<32x64xbf16>
    %167 = stablehlo.dot_general %164, %105, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x64xbf16>, tensor<32x64xbf16>) -> tensor<8x16x32xbf16>
    %168 = stablehlo.convert %166 : (tensor<32x64xbf16>) -> tensor<32x64xf32>
    %169 = stablehlo.dot_general %167, %78, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xbf16>, tensor<8x16x4x8xbf16>) -> tensor<8x32x4x8xbf16>
    %170 = stablehlo.transpose %169, dims = [2, 0, 3, 1] : (tensor<8x32x4x8xbf16>) -> tensor<4x8x8x32xbf16>
    %171 = stablehlo.dot_general %167, %102, batching_dims = [0] x [1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x16x32xbf16>, tensor<4x8x8x32xbf16>) -> tensor<8x16x4x8xbf16>
    %172 = stablehlo.dot_general %170, %100, batching_dims = [0] x [0], contracting_dims = [1, 2] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<4x8x8x32xbf16>, tensor<4x8x8x32xbf16>) -> tensor<4x32x32xbf16>
    %173 = stablehlo.transpose %172, dims = [0, 2, 1] : (tensor<4x32x32xbf16>) -> tensor<4x32x32xbf16>
    %174 = stablehlo.dot_general %170, %101, batching_dims = [0] x [0], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x8x8x32xbf16>, tensor<4x32x32xbf16>) -> tensor<4x8x8x32xbf16>
    %175 = stablehlo.convert %173 : (tensor<4x32x32xbf16>) -> tensor<4x32x32xf32>
    %176 = stablehlo.multiply %82, %174 : tensor<4x8x8x32xbf16>
    %177 = stablehlo.multiply %174, %99 : tensor<4x8x8x32xbf16>
    %cst_42 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %178 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<bf16>) -> tensor<4x8x8x32xbf16>
    %179 = stablehlo.multiply %178, %176 : tensor<4x8x8x32xbf16>
    %180 = stablehlo.multiply %179, %95 : tensor<4x8x8x32xbf16>
    %181 = stablehlo.multiply %180, %93 : tensor<4x8x8x32xbf16>
    %182 = stablehlo.add %180, %181 : tensor<4x8x8x32xbf16>
    %cst_43 = stablehlo.constant dense<7.968750e-01> : tensor<bf16>
    %183 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<bf16>) -> tensor<4x8x8x32xbf16>
    %184 = stablehlo.multiply %183, %182 : tensor<4x8x8x32xbf16>
    %185 = stablehlo.add %177, %184 : tensor<4x8x8x32xbf16>
    %cst_44 = stablehlo.constant dense<4.467770e-02> : tensor<bf16>
    %186 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<bf16>) -> tensor<4x8x8x32xbf16>
    %187 = stablehlo.multiply %186, %184 : tensor<4x8x8x32xbf16>
    %188 = stablehlo.multiply %187, %87 : tensor<4x8x8x32xbf16>
    %189 = stablehlo.add %185, %188 : tensor<4x8x8x32xbf16>
    %190 = stablehlo.dot_general %189, %80, batching_dims = [0] x [0], contracting_dims = [1, 2] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<4x8x8x32xbf16>, tensor<4x8x8x32xbf16>) -> tensor<4x32x32xbf16>
    %191 = stablehlo.transpose %190, dims = [0, 2, 1] : (tensor<4x32x32xbf16>) -> tensor<4x32x32xbf16>
    %192 = stablehlo.dot_general %189, %81, batching_dims = [0] x [0], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x8x8x32xbf16>, tensor<4x32x32xbf16>) -> tensor<4x8x8x32xbf16>
    %193 = stablehlo.convert %191 : (tensor<4x32x32xbf16>) -> tensor<4x32x32xf32>
    %194 = stablehlo.transpose %192, dims = [1, 3, 0, 2] : (tensor<4x8x8x32xbf16>) -> tensor<8x32x4x8xbf16>
    %195 = stablehlo.dot_general %194, %72, batching_dims = [0] x [0], contracting_dims = [2, 3] x [2, 3], precision = [DEFAULT, DEFAULT] : (tensor<8x32x4x8xbf16>, tensor<8x16x4x8xbf16>) -> tensor<8x32x16xbf16>
    %196 = stablehlo.transpose %195, dims = [0, 2, 1] : (tensor<8x32x16xbf16>) -> tensor<8x16x32xbf16>
    %197 = stablehlo.multiply %72, %171 : tensor<8x16x4x8xbf16>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %198 = stablehlo.reduce(%197 init: %cst_45) applies stablehlo.add across dimensions = [2, 3] : (tensor<8x16x4x8xbf16>, tensor<bf16>) -> tensor<8x16xbf16>
    %199 = stablehlo.reshape %198 : (tensor<8x16xbf16>) -> tensor<8x16x1x1xbf16>
    %200 = stablehlo.convert %199 : (tensor<8x16x1x1xbf16>) -> tensor<8x16x1x1xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %201 = stablehlo.reduce(%200 init: %cst_46) applies stablehlo.add across dimensions = [2, 3] : (tensor<8x16x1x1xf32>, tensor<f32>) -> tensor<8x16xf32>
    %202 = stablehlo.broadcast_in_dim %201, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x4xf32>
    %203 = stablehlo.multiply %202, %62 : tensor<8x16x4xf32>
    %204 = stablehlo.broadcast_in_dim %60, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x4xf32>
    %205 = stablehlo.multiply %203, %204 : tensor<8x16x4xf32>
    %206 = stablehlo.multiply %205, %53 : tensor<8x16x4xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %207 = stablehlo.reduce(%206 init: %cst_47) applies stablehlo.add across dimensions = [2] : (tensor<8x16x4xf32>, tensor<f32>) -> tensor<8x16xf32>
    %208 = stablehlo.reshape %207 : (tensor<8x16xf32>) -> tensor<8x16x1xf32>
    %209 = stablehlo.negate %208 : tensor<8x16x1xf32>
    %210 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2] : (tensor<8x16x1xf32>) -> tensor<8x16x4xf32>
    %211 = stablehlo.divide %203, %210 : tensor<8x16x4xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %212 = stablehlo.reduce(%209 init: %cst_48) applies stablehlo.add across dimensions = [2] : (tensor<8x16x1xf32>, tensor<f32>) -> tensor<8x16xf32>
    %213 = stablehlo.broadcast_in_dim %212, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x4xf32>
    %214 = stablehlo.add %211, %213 : tensor<8x16x4xf32>
    %215 = stablehlo.multiply %214, %53 : tensor<8x16x4xf32>
    %216 = stablehlo.convert %215 : (tensor<8x16x4xf32>) -> tensor<8x16x4xbf16>
    %217 = stablehlo.dot_general %216, %28, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4xbf16>, tensor<8x16x32xbf16>) -> tensor<4x32xbf16>
    %218 = stablehlo.transpose %217, dims = [1, 0] : (tensor<4x32xbf16>) -> tensor<32x4xbf16>
    %219 = stablehlo.dot_general %216, %29, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16x4xbf16>, tensor<32x4xbf16>) -> tensor<8x16x32xbf16>
    %220 = stablehlo.add %196, %219 : tensor<8x16x32xbf16>
    %221 = stablehlo.convert %218 : (tensor<32x4xbf16>) -> tensor<32x4xf32>
    %222 = stablehlo.multiply %24, %220 : tensor<8x16x32xbf16>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %223 = stablehlo.reduce(%222 init: %cst_49) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16x32xbf16>, tensor<bf16>) -> tensor<32xbf16>
    %224 = stablehlo.reshape %223 : (tensor<32xbf16>) -> tensor<1x1x32xbf16>
    %225 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2] : (tensor<1x1x32xbf16>) -> tensor<8x16x32xbf16>
    %226 = stablehlo.multiply %220, %225 : tensor<8x16x32xbf16>
    %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %227 = stablehlo.reduce(%224 init: %cst_50) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xbf16>, tensor<bf16>) -> tensor<32xbf16>
    %228 = stablehlo.convert %227 : (tensor<32xbf16>) -> tensor<32xf32>
    %229 = stablehlo.multiply %7, %226 : tensor<8x16x32xbf16>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %230 = stablehlo.reduce(%229 init: %cst_51) applies stablehlo.add across dimensions = [2] : (tensor<8x16x32xbf16>, tensor<bf16>) -> tensor<8x16xbf16>
    %231 = stablehlo.reshape %230 : (tensor<8x16xbf16>) -> tensor<8x16x1xbf16>
    %232 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<8x16x1xbf16>) -> tensor<8x16x32xbf16>
    %233 = stablehlo.multiply %226, %232 : tensor<8x16x32xbf16>
    %234 = stablehlo.add %167, %233 : tensor<8x16x32xbf16>
    %235 = stablehlo.convert %231 : (tensor<8x16x1xbf16>) -> tensor<8x16x1xf32>
    %236 = stablehlo.multiply %235, %21 : tensor<8x16x1xf32>
    %cst_52 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %237 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<8x16x1xf32>
    %238 = stablehlo.divide %236, %237 : tensor<8x16x1xf32>
    %cst_53 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %239 = stablehlo.reduce(%238 init: %cst_53) applies stablehlo.add across dimensions = [2] : (tensor<8x16x1xf32>, tensor<f32>) -> tensor<8x16xf32>
    %240 = stablehlo.broadcast_in_dim %239, dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x32xf32>
    %241 = stablehlo.multiply %240, %11 : tensor<8x16x32xf32>
    %242 = stablehlo.convert %241 : (tensor<8x16x32xf32>) -> tensor<8x16x32xbf16>
    %243 = stablehlo.add %234, %242 : tensor<8x16x32xbf16>
    %cst_54 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %244 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<bf16>) -> tensor<64x32xbf16>
    %245 = "stablehlo.scatter"(%244, %6, %243) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg20: tensor<bf16>, %arg21: tensor<bf16>):
      %373 = stablehlo.add %arg20, %arg21 : tensor<bf16>
      stablehlo.return %373 : tensor<bf16>
    }) : (tensor<64x32xbf16>, tensor<8x16x1xi32>, tensor<8x16x32xbf16>) -> tensor<64x32xbf16>
    %246 = stablehlo.convert %245 : (tensor<64x32xbf16>) -> tensor<64x32xf32>
    %cst_55 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %247 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %248 = stablehlo.multiply %247, %arg6 : tensor<64x32xf32>
    %cst_56 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %249 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %250 = stablehlo.multiply %249, %246 : tensor<64x32xf32>
    %251 = stablehlo.add %248, %250 : tensor<64x32xf32>
    %cst_57 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %252 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %253 = stablehlo.multiply %252, %arg7 : tensor<32x64xf32>
    %cst_58 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %254 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %255 = stablehlo.multiply %254, %168 : tensor<32x64xf32>
    %256 = stablehlo.add %253, %255 : tensor<32x64xf32>
    %cst_59 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %257 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %258 = stablehlo.multiply %257, %arg8 : tensor<32xf32>
    %cst_60 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %259 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %260 = stablehlo.multiply %259, %228 : tensor<32xf32>
    %261 = stablehlo.add %258, %260 : tensor<32xf32>
    %cst_61 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %262 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<32x4xf32>
    %263 = stablehlo.multiply %262, %arg9 : tensor<32x4xf32>
    %cst_62 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %264 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<32x4xf32>
    %265 = stablehlo.multiply %264, %221 : tensor<32x4xf32>
    %266 = stablehlo.add %263, %265 : tensor<32x4xf32>
    %cst_63 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %267 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<4x32x32xf32>
    %268 = stablehlo.multiply %267, %arg10 : tensor<4x32x32xf32>
    %cst_64 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %269 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<4x32x32xf32>
    %270 = stablehlo.multiply %269, %193 : tensor<4x32x32xf32>
    %271 = stablehlo.add %268, %270 : tensor<4x32x32xf32>
    %cst_65 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %272 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<4x32x32xf32>
    %273 = stablehlo.multiply %272, %arg11 : tensor<4x32x32xf32>
    %cst_66 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %274 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<4x32x32xf32>
    %275 = stablehlo.multiply %274, %175 : tensor<4x32x32xf32>
    %276 = stablehlo.add %273, %275 : tensor<4x32x32xf32>
    %cst_67 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %277 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %278 = stablehlo.multiply %277, %arg12 : tensor<64x32xf32>
    %cst_68 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %279 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %280 = stablehlo.multiply %279, %246 : tensor<64x32xf32>
    %281 = stablehlo.multiply %280, %246 : tensor<64x32xf32>
    %282 = stablehlo.add %278, %281 : tensor<64x32xf32>
    %cst_69 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %283 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %284 = stablehlo.multiply %283, %arg13 : tensor<32x64xf32>
    %cst_70 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %285 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %286 = stablehlo.multiply %285, %168 : tensor<32x64xf32>
    %287 = stablehlo.multiply %286, %168 : tensor<32x64xf32>
    %288 = stablehlo.add %284, %287 : tensor<32x64xf32>
    %cst_71 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %289 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %290 = stablehlo.multiply %289, %arg14 : tensor<32xf32>
    %cst_72 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %291 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %292 = stablehlo.multiply %291, %228 : tensor<32xf32>
    %293 = stablehlo.multiply %292, %228 : tensor<32xf32>
    %294 = stablehlo.add %290, %293 : tensor<32xf32>
    %cst_73 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %295 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<32x4xf32>
    %296 = stablehlo.multiply %295, %arg15 : tensor<32x4xf32>
    %cst_74 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %297 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<32x4xf32>
    %298 = stablehlo.multiply %297, %221 : tensor<32x4xf32>
    %299 = stablehlo.multiply %298, %221 : tensor<32x4xf32>
    %300 = stablehlo.add %296, %299 : tensor<32x4xf32>
    %cst_75 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %301 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<4x32x32xf32>
    %302 = stablehlo.multiply %301, %arg16 : tensor<4x32x32xf32>
    %cst_76 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %303 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<4x32x32xf32>
    %304 = stablehlo.multiply %303, %193 : tensor<4x32x32xf32>
    %305 = stablehlo.multiply %304, %193 : tensor<4x32x32xf32>
    %306 = stablehlo.add %302, %305 : tensor<4x32x32xf32>
    %cst_77 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %307 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<4x32x32xf32>
    %308 = stablehlo.multiply %307, %arg17 : tensor<4x32x32xf32>
    %cst_78 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %309 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<4x32x32xf32>
    %310 = stablehlo.multiply %309, %175 : tensor<4x32x32xf32>
    %311 = stablehlo.multiply %310, %175 : tensor<4x32x32xf32>
    %312 = stablehlo.add %308, %311 : tensor<4x32x32xf32>
    %313 = stablehlo.sqrt %282 : tensor<64x32xf32>
    %cst_79 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %314 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %315 = stablehlo.add %313, %314 : tensor<64x32xf32>
    %316 = stablehlo.divide %251, %315 : tensor<64x32xf32>
    %cst_80 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %317 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %318 = stablehlo.multiply %317, %arg0 : tensor<64x32xf32>
    %319 = stablehlo.add %316, %318 : tensor<64x32xf32>
    %cst_81 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %320 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %321 = stablehlo.multiply %320, %319 : tensor<64x32xf32>
    %322 = stablehlo.subtract %arg0, %321 : tensor<64x32xf32>
    %323 = stablehlo.sqrt %288 : tensor<32x64xf32>
    %cst_82 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %324 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %325 = stablehlo.add %323, %324 : tensor<32x64xf32>
    %326 = stablehlo.divide %256, %325 : tensor<32x64xf32>
    %cst_83 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %327 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %328 = stablehlo.multiply %327, %arg1 : tensor<32x64xf32>
    %329 = stablehlo.add %326, %328 : tensor<32x64xf32>
    %cst_84 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %330 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<32x64xf32>
    %331 = stablehlo.multiply %330, %329 : tensor<32x64xf32>
    %332 = stablehlo.subtract %arg1, %331 : tensor<32x64xf32>
    %333 = stablehlo.sqrt %294 : tensor<32xf32>
    %cst_85 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %334 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %335 = stablehlo.add %333, %334 : tensor<32xf32>
    %336 = stablehlo.divide %261, %335 : tensor<32xf32>
    %cst_86 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %337 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %338 = stablehlo.multiply %337, %arg2 : tensor<32xf32>
    %339 = stablehlo.add %336, %338 : tensor<32xf32>
    %cst_87 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %340 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %341 = stablehlo.multiply %340, %339 : tensor<32xf32>
    %342 = stablehlo.subtract %arg2, %341 : tensor<32xf32>
    %343 = stablehlo.sqrt %300 : tensor<32x4xf32>
    %cst_88 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %344 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<32x4xf32>
    %345 = stablehlo.add %343, %344 : tensor<32x4xf32>
    %346 = stablehlo.divide %266, %345 : tensor<32x4xf32>
    %cst_89 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %347 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<32x4xf32>
    %348 = stablehlo.multiply %347, %arg3 : tensor<32x4xf32>
    %349 = stablehlo.add %346, %348 : tensor<32x4xf32>
    %cst_90 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %350 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<f32>) -> tensor<32x4xf32>
    %351 = stablehlo.multiply %350, %349 : tensor<32x4xf32>
    %352 = stablehlo.subtract %arg3, %351 : tensor<32x4xf32>
    %353 = stablehlo.sqrt %306 : tensor<4x32x32xf32>
    %cst_91 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %354 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<4x32x32xf32>
    %355 = stablehlo.add %353, %354 : tensor<4x32x32xf32>
    %356 = stablehlo.divide %271, %355 : tensor<4x32x32xf32>
    %cst_92 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %357 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<4x32x32xf32>
    %358 = stablehlo.multiply %357, %arg4 : tensor<4x32x32xf32>
    %359 = stablehlo.add %356, %358 : tensor<4x32x32xf32>
    %cst_93 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %360 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f32>) -> tensor<4x32x32xf32>
    %361 = stablehlo.multiply %360, %359 : tensor<4x32x32xf32>
    %362 = stablehlo.subtract %arg4, %361 : tensor<4x32x32xf32>
    %363 = stablehlo.sqrt %312 : tensor<4x32x32xf32>
    %cst_94 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %364 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<4x32x32xf32>
    %365 = stablehlo.add %363, %364 : tensor<4x32x32xf32>
    %366 = stablehlo.divide %276, %365 : tensor<4x32x32xf32>
    %cst_95 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %367 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<4x32x32xf32>
    %368 = stablehlo.multiply %367, %arg5 : tensor<4x32x32xf32>
    %369 = stablehlo.add %366, %368 : tensor<4x32x32xf32>
    %cst_96 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %370 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<4x32x32xf32>
    %371 = stablehlo.multiply %370, %369 : tensor<4x32x32xf32>
    %372 = stablehlo.subtract %arg5, %371 : tensor<4x32x32xf32>
    return %322, %332, %342, %352, %362, %372, %251, %256, %261, %266, %271, %276, %282, %288, %294, %300, %306, %312, %149 : tensor<64x32xf32>, tensor<32x64xf32>, tensor<32xf32>, tensor<32x4xf32>, tensor<4x32x32xf32>, tensor<4x32x32xf32>, tensor<64x32xf32>, tensor<32x64xf32>, tensor<32xf32>, tensor<32x4xf32>, tensor<4x32x32xf32>, tensor<4x32x32xf32>, tensor<64x32xf32>, tensor<32x64xf32>, tensor<32xf32>, tensor<32x4xf32>, tensor<4x32x32xf32>, tensor<4x32x32xf32>, tensor<f32>
  }
  func.func private @argmax(%arg0: tensor<8x16x4xf32>) -> tensor<8x16xi32> {
    %0 = stablehlo.iota dim = 2 : tensor<8x16x4xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [2] : (tensor<8x16x4xf32>, tensor<8x16x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<8x16xf32>, tensor<8x16xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<8x16xi32>
  }
  func.func private @_one_hot(%arg0: tensor<8x16xi32>) -> tensor<8x16x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<8x16xi32>) -> tensor<8x16x1xi32>
    %1 = stablehlo.iota dim = 2 : tensor<1x1x4xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<8x16x1xi32>) -> tensor<8x16x4xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x1x4xi32>) -> tensor<8x16x4xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<8x16x4xi32>, tensor<8x16x4xi32>) -> tensor<8x16x4xi1>
    %5 = stablehlo.convert %4 : (tensor<8x16x4xi1>) -> tensor<8x16x4xf32>
    return %5 : tensor<8x16x4xf32>
  }
  func.func private @cumsum(%arg0: tensor<8x16x4xf32>) -> tensor<8x16x4xf32> {
    %0 = call @cumsum_0(%arg0) : (tensor<8x16x4xf32>) -> tensor<8x16x4xf32>
    return %0 : tensor<8x16x4xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<8x16x4xf32>) -> tensor<8x16x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [15, 0], [0, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 16, 1>, window_strides = array<i64: 1, 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<8x16x4xf32>, tensor<f32>) -> tensor<8x16x4xf32>
    return %1 : tensor<8x16x4xf32>
  }
  func.func private @_one_hot_1(%arg0: tensor<8x16x4xi32>) -> tensor<8x16x4x8xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2] : (tensor<8x16x4xi32>) -> tensor<8x16x4x1xi32>
    %1 = stablehlo.iota dim = 3 : tensor<1x1x1x8xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2, 3] : (tensor<8x16x4x1xi32>) -> tensor<8x16x4x8xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x1x1x8xi32>) -> tensor<8x16x4x8xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<8x16x4x8xi32>, tensor<8x16x4x8xi32>) -> tensor<8x16x4x8xi1>
    %5 = stablehlo.convert %4 : (tensor<8x16x4x8xi1>) -> tensor<8x16x4x8xbf16>
    return %5 : tensor<8x16x4x8xbf16>
  }
  func.func private @_where(%arg0: tensor<8x16x64xi1>, %arg1: tensor<8x16x64xf32>, %arg2: tensor<i32>) -> (tensor<8x16x64xf32>, tensor<8x16x64xf32>) {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x16x64xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<8x16x64xi1>, tensor<8x16x64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16x64xf32>
    return %2, %3 : tensor<8x16x64xf32>, tensor<8x16x64xf32>
  }
  func.func private @_where_2(%arg0: tensor<8x16x64xi1>, %arg1: tensor<8x16x64xf32>, %arg2: tensor<8x16x64xf32>) -> tensor<8x16x64xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16x64xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<8x16x64xi1>, tensor<8x16x64xf32>
    return %1 : tensor<8x16x64xf32>
  }
}
