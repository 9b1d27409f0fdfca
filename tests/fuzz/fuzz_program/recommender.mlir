module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x1024xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<1024x16xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<118x2048xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<2048x1024xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<1024x1xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<4x64x16xf32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<16x1024xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<1024x16xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<118x2048xf32> {tf.aliasing_output = 8 : i32}, %arg9: tensor<2048x1024xf32> {tf.aliasing_output = 9 : i32}, %arg10: tensor<1024x1xf32> {tf.aliasing_output = 10 : i32}, %arg11: tensor<4x64x16xf32> {tf.aliasing_output = 11 : i32}, %arg12: tensor<32x16xf32>, %arg13: tensor<32x4xi32>, %arg14: tensor<32xf32>) -> (tensor<16x1024xf32> {jax.result_info = "result[0][0]['b1']"}, tensor<1024x16xf32> {jax.result_info = "result[0][0]['b2']"}, tensor<118x2048xf32> {jax.result_info = "result[0][0]['t1']"}, tensor<2048x1024xf32> {jax.result_info = "result[0][0]['t2']"}, tensor<1024x1xf32> {jax.result_info = "result[0][0]['t3']"}, tensor<4x64x16xf32> {jax.result_info = "result[0][0]['tables']"}, tensor<16x1024xf32> {jax.result_info = "result[0][1]['b1']"}, tensor<1024x16xf32> {jax.result_info = "result[0][1]['b2']"}, tensor<118x2048xf32> {jax.result_info = "result[0][1]['t1']"}, tensor<2048x1024xf32> {jax.result_info = "result[0][1]['t2']"}, tensor<1024x1xf32> {jax.result_info = "result[0][1]['t3']"}, tensor<4x64x16xf32> {jax.result_info = "result[0][1]['tables']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32x4xi32>
    %1 = stablehlo.compare LT, %arg13, %0, SIGNED : (tensor<32x4xi32>, tensor<32x4xi32>) -> tensor<32x4xi1>
    %c_0 = stablehlo.constant dense<64> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<32x4xi32>
    %3 = stablehlo.add %arg13, %2 : tensor<32x4xi32>
    %4 = stablehlo.select %1, %3, %arg13 : tensor<32x4xi1>, tensor<32x4xi32>
    %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<32x4xi32>) -> tensor<4x32xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %7 = "stablehlo.gather"(%arg5, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 16>}> : (tensor<4x64x16xf32>, tensor<4x32x1xi32>) -> tensor<4x32x16xf32>
    %8 = stablehlo.transpose %7, dims = [1, 0, 2] : (tensor<4x32x16xf32>) -> tensor<32x4x16xf32>
    %9 = stablehlo.convert %8 : (tensor<32x4x16xf32>) -> tensor<32x4x16xbf16>
    %10 = stablehlo.convert %arg12 : (tensor<32x16xf32>) -> tensor<32x16xbf16>
    %11 = stablehlo.convert %arg0 : (tensor<16x1024xf32>) -> tensor<16x1024xbf16>
    %12 = stablehlo.dot_general %10, %11, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x16xbf16>, tensor<16x1024xbf16>) -> tensor<32x1024xbf16>
    %13 = call @relu(%12) : (tensor<32x1024xbf16>) -> tensor<32x1024xbf16>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<32x1024xbf16>
    %15 = stablehlo.compare GT, %12, %14, FLOAT : (tensor<32x1024xbf16>, tensor<32x1024xbf16>) -> tensor<32x1024xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %16 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<32x1024xbf16>
    %17 = stablehlo.convert %arg1 : (tensor<1024x16xf32>) -> tensor<1024x16xbf16>
    %18 = stablehlo.dot_general %13, %17, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x1024xbf16>, tensor<1024x16xbf16>) -> tensor<32x16xbf16>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 2] : (tensor<32x16xbf16>) -> tensor<32x1x16xbf16>
    %20 = stablehlo.concatenate %19, %9, dim = 1 : (tensor<32x1x16xbf16>, tensor<32x4x16xbf16>) -> tensor<32x5x16xbf16>
    %21 = stablehlo.dot_general %20, %20, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<32x5x16xbf16>, tensor<32x5x16xbf16>) -> tensor<32x5x5xbf16>
    %22 = stablehlo.reshape %21 : (tensor<32x5x5xbf16>) -> tensor<32x25xbf16>
    %23 = stablehlo.concatenate %18, %22, dim = 1 : (tensor<32x16xbf16>, tensor<32x25xbf16>) -> tensor<32x41xbf16>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %24:2 = call @_pad(%23, %c_2) : (tensor<32x41xbf16>, tensor<i32>) -> (tensor<32x118xbf16>, tensor<bf16>)
    %25 = stablehlo.convert %arg2 : (tensor<118x2048xf32>) -> tensor<118x2048xbf16>
    %26 = stablehlo.dot_general %24#0, %25, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x118xbf16>, tensor<118x2048xbf16>) -> tensor<32x2048xbf16>
    %27 = call @relu_0(%26) : (tensor<32x2048xbf16>) -> tensor<32x2048xbf16>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %28 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<bf16>) -> tensor<32x2048xbf16>
    %29 = stablehlo.compare GT, %26, %28, FLOAT : (tensor<32x2048xbf16>, tensor<32x2048xbf16>) -> tensor<32x2048xi1>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %30 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<bf16>) -> tensor<32x2048xbf16>
    %31 = stablehlo.convert %arg3 : (tensor<2048x1024xf32>) -> tensor<2048x1024xbf16>
    %32 = stablehlo.dot_general %27, %31, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x2048xbf16>, tensor<2048x1024xbf16>) -> tensor<32x1024xbf16>
    %33 = call @relu(%32) : (tensor<32x1024xbf16>) -> tensor<32x1024xbf16>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %34 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<bf16>) -> tensor<32x1024xbf16>
    %35 = stablehlo.compare GT, %32, %34, FLOAT : (tensor<32x1024xbf16>, tensor<32x1024xbf16>) -> tensor<32x1024xi1>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %36 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<bf16>) -> tensor<32x1024xbf16>
    %37 = stablehlo.convert %arg4 : (tensor<1024x1xf32>) -> tensor<1024x1xbf16>
    %38 = stablehlo.dot_general %33, %37, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x1024xbf16>, tensor<1024x1xbf16>) -> tensor<32x1xbf16>
    %39 = stablehlo.reshape %38 : (tensor<32x1xbf16>) -> tensor<32xbf16>
    %40 = stablehlo.convert %39 : (tensor<32xbf16>) -> tensor<32xf32>
    %41:3 = call @softplus(%40) : (tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>)
    %42 = stablehlo.multiply %arg14, %40 : tensor<32xf32>
    %43 = stablehlo.subtract %41#0, %42 : tensor<32xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%43 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
    %cst_8 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %45 = stablehlo.divide %44, %cst_8 : tensor<f32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_10 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %46 = stablehlo.divide %cst_9, %cst_10 : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %48 = stablehlo.negate %47 : tensor<32xf32>
    %49 = stablehlo.multiply %arg14, %48 : tensor<32xf32>
    %50 = call @softplus_1(%41#1, %41#2, %47) : (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %51 = stablehlo.add %49, %50 : tensor<32xf32>
    %52 = stablehlo.convert %51 : (tensor<32xf32>) -> tensor<32xbf16>
    %53 = stablehlo.broadcast_in_dim %52, dims = [0] : (tensor<32xbf16>) -> tensor<32x1xbf16>
    %54 = stablehlo.dot_general %53, %33, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x1xbf16>, tensor<32x1024xbf16>) -> tensor<1x1024xbf16>
    %55 = stablehlo.transpose %54, dims = [1, 0] : (tensor<1x1024xbf16>) -> tensor<1024x1xbf16>
    %56 = stablehlo.dot_general %53, %37, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x1xbf16>, tensor<1024x1xbf16>) -> tensor<32x1024xbf16>
    %57 = stablehlo.convert %55 : (tensor<1024x1xbf16>) -> tensor<1024x1xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %58 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<bf16>) -> tensor<32x1024xbf16>
    %59 = stablehlo.select %35, %56, %58 : tensor<32x1024xi1>, tensor<32x1024xbf16>
    %60 = stablehlo.dot_general %59, %27, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x1024xbf16>, tensor<32x2048xbf16>) -> tensor<1024x2048xbf16>
    %61 = stablehlo.transpose %60, dims = [1, 0] : (tensor<1024x2048xbf16>) -> tensor<2048x1024xbf16>
    %62 = stablehlo.dot_general %59, %31, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x1024xbf16>, tensor<2048x1024xbf16>) -> tensor<32x2048xbf16>
    %63 = stablehlo.convert %61 : (tensor<2048x1024xbf16>) -> tensor<2048x1024xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %64 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<bf16>) -> tensor<32x2048xbf16>
    %65 = stablehlo.select %29, %62, %64 : tensor<32x2048xi1>, tensor<32x2048xbf16>
    %66 = stablehlo.dot_general %65, %24#0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x2048xbf16>, tensor<32x118xbf16>) -> tensor<2048x118xbf16>
    %67 = stablehlo.transpose %66, dims = [1, 0] : (tensor<2048x118xbf16>) -> tensor<118x2048xbf16>
    %68 = stablehlo.dot_general %65, %25, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x2048xbf16>, tensor<118x2048xbf16>) -> tensor<32x118xbf16>
    %69 = stablehlo.convert %67 : (tensor<118x2048xbf16>) -> tensor<118x2048xf32>
    %70 = call @_pad_2(%24#1, %68) : (tensor<bf16>, tensor<32x118xbf16>) -> tensor<32x41xbf16>
    %71 = stablehlo.slice %70 [0:32, 0:16] : (tensor<32x41xbf16>) -> tensor<32x16xbf16>
    %72 = stablehlo.slice %70 [0:32, 16:41] : (tensor<32x41xbf16>) -> tensor<32x25xbf16>
    %73 = stablehlo.reshape %72 : (tensor<32x25xbf16>) -> tensor<32x5x5xbf16>
    %74 = stablehlo.dot_general %73, %20, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x5x5xbf16>, tensor<32x5x16xbf16>) -> tensor<32x5x16xbf16>
    %75 = stablehlo.dot_general %73, %20, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x5x5xbf16>, tensor<32x5x16xbf16>) -> tensor<32x5x16xbf16>
    %76 = stablehlo.add %74, %75 : tensor<32x5x16xbf16>
    %77 = stablehlo.slice %76 [0:32, 0:1, 0:16] : (tensor<32x5x16xbf16>) -> tensor<32x1x16xbf16>
    %78 = stablehlo.slice %76 [0:32, 1:5, 0:16] : (tensor<32x5x16xbf16>) -> tensor<32x4x16xbf16>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %79 = stablehlo.reduce(%77 init: %cst_13) applies stablehlo.add across dimensions = [1] : (tensor<32x1x16xbf16>, tensor<bf16>) -> tensor<32x16xbf16>
    %80 = stablehlo.add %71, %79 : tensor<32x16xbf16>
    %81 = stablehlo.dot_general %80, %13, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x16xbf16>, tensor<32x1024xbf16>) -> tensor<16x1024xbf16>
    %82 = stablehlo.transpose %81, dims = [1, 0] : (tensor<16x1024xbf16>) -> tensor<1024x16xbf16>
    %83 = stablehlo.dot_general %80, %17, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x16xbf16>, tensor<1024x16xbf16>) -> tensor<32x1024xbf16>
    %84 = stablehlo.convert %82 : (tensor<1024x16xbf16>) -> tensor<1024x16xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %85 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<bf16>) -> tensor<32x1024xbf16>
    %86 = stablehlo.select %15, %83, %85 : tensor<32x1024xi1>, tensor<32x1024xbf16>
    %87 = stablehlo.dot_general %86, %10, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x1024xbf16>, tensor<32x16xbf16>) -> tensor<1024x16xbf16>
    %88 = stablehlo.transpose %87, dims = [1, 0] : (tensor<1024x16xbf16>) -> tensor<16x1024xbf16>
    %89 = stablehlo.convert %88 : (tensor<16x1024xbf16>) -> tensor<16x1024xf32>
    %90 = stablehlo.convert %78 : (tensor<32x4x16xbf16>) -> tensor<32x4x16xf32>
    %91 = stablehlo.transpose %90, dims = [1, 0, 2] : (tensor<32x4x16xf32>) -> tensor<4x32x16xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x64x16xf32>
    %93 = "stablehlo.scatter"(%92, %6, %91) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg15: tensor<f32>, %arg16: tensor<f32>):
      %148 = stablehlo.add %arg15, %arg16 : tensor<f32>
      stablehlo.return %148 : tensor<f32>
    }) : (tensor<4x64x16xf32>, tensor<4x32x1xi32>, tensor<4x32x16xf32>) -> tensor<4x64x16xf32>
    %94 = stablehlo.multiply %89, %89 : tensor<16x1024xf32>
    %95 = stablehlo.add %arg6, %94 : tensor<16x1024xf32>
    %96 = stablehlo.multiply %84, %84 : tensor<1024x16xf32>
    %97 = stablehlo.add %arg7, %96 : tensor<1024x16xf32>
    %98 = stablehlo.multiply %69, %69 : tensor<118x2048xf32>
    %99 = stablehlo.add %arg8, %98 : tensor<118x2048xf32>
    %100 = stablehlo.multiply %63, %63 : tensor<2048x1024xf32>
    %101 = stablehlo.add %arg9, %100 : tensor<2048x1024xf32>
    %102 = stablehlo.multiply %57, %57 : tensor<1024x1xf32>
    %103 = stablehlo.add %arg10, %102 : tensor<1024x1xf32>
    %104 = stablehlo.multiply %93, %93 : tensor<4x64x16xf32>
    %105 = stablehlo.add %arg11, %104 : tensor<4x64x16xf32>
    %cst_16 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<16x1024xf32>
    %107 = stablehlo.multiply %106, %89 : tensor<16x1024xf32>
    %cst_17 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %108 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<16x1024xf32>
    %109 = stablehlo.add %95, %108 : tensor<16x1024xf32>
    %110 = stablehlo.rsqrt %109 : tensor<16x1024xf32>
    %111 = stablehlo.multiply %107, %110 : tensor<16x1024xf32>
    %112 = stablehlo.subtract %arg0, %111 : tensor<16x1024xf32>
    %cst_18 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<1024x16xf32>
    %114 = stablehlo.multiply %113, %84 : tensor<1024x16xf32>
    %cst_19 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<1024x16xf32>
    %116 = stablehlo.add %97, %115 : tensor<1024x16xf32>
    %117 = stablehlo.rsqrt %116 : tensor<1024x16xf32>
    %118 = stablehlo.multiply %114, %117 : tensor<1024x16xf32>
    %119 = stablehlo.subtract %arg1, %118 : tensor<1024x16xf32>
    %cst_20 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<118x2048xf32>
    %121 = stablehlo.multiply %120, %69 : tensor<118x2048xf32>
    %cst_21 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<118x2048xf32>
    %123 = stablehlo.add %99, %122 : tensor<118x2048xf32>
    %124 = stablehlo.rsqrt %123 : tensor<118x2048xf32>
    %125 = stablehlo.multiply %121, %124 : tensor<118x2048xf32>
    %126 = stablehlo.subtract %arg2, %125 : tensor<118x2048xf32>
    %cst_22 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<2048x1024xf32>
    %128 = stablehlo.multiply %127, %63 : tensor<2048x1024xf32>
    %cst_23 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %129 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<2048x1024xf32>
    %130 = stablehlo.add %101, %129 : tensor<2048x1024xf32>
    %131 = stablehlo.rsqrt %130 : tensor<2048x1024xf32>
    %132 = stablehlo.multiply %128, %131 : tensor<2048x1024xf32>
    %133 = stablehlo.subtract %arg3, %132 : tensor<2048x1024xf32>
    %cst_24 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<1024x1xf32>
    %135 = stablehlo.multiply %134, %57 : tensor<1024x1xf32>
    %cst_25 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %136 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<1024x1xf32>
    %137 = stablehlo.add %103, %136 : tensor<1024x1xf32>
    %138 = stablehlo.rsqrt %137 : tensor<1024x1xf32>
    %139 = stablehlo.multiply %135, %138 : tensor<1024x1xf32>
    %140 = stablehlo.subtract %arg4, %139 : tensor<1024x1xf32>
    %cst_26 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %141 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<4x64x16xf32>
    %142 = stablehlo.multiply %141, %93 : tensor<4x64x16xf32>
    %cst_27 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %143 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<4x64x16xf32>
    %144 = stablehlo.add %105, %143 : tensor<4x64x16xf32>
    %145 = stablehlo.rsqrt %144 : tensor<4x64x16xf32>
    %146 = stablehlo.multiply %142, %145 : tensor<4x64x16xf32>
    %147 = stablehlo.subtract %arg5, %146 : tensor<4x64x16xf32>
    return %112, %119, %126, %133, %140, %147, %95, %97, %99, %101, %103, %105, %45 : tensor<16x1024xf32>, tensor<1024x16xf32>, tensor<118x2048xf32>, tensor<2048x1024xf32>, tensor<1024x1xf32>, tensor<4x64x16xf32>, tensor<16x1024xf32>, tensor<1024x16xf32>, tensor<118x2048xf32>, tensor<2048x1024xf32>, tensor<1024x1xf32>, tensor<4x64x16xf32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<32x1024xbf16>) -> tensor<32x1024xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<32x1024xbf16>
    %1 = stablehlo.maximum %arg0, %0 : tensor<32x1024xbf16>
    return %1 : tensor<32x1024xbf16>
  }
  func.func private @_pad(%arg0: tensor<32x41xbf16>, %arg1: tensor<i32>) -> (tensor<32x118xbf16>, tensor<bf16>) {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<bf16>
    %1 = stablehlo.pad %arg0, %0, low = [0, 0], high = [0, 77], interior = [0, 0] : (tensor<32x41xbf16>, tensor<bf16>) -> tensor<32x118xbf16>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    return %1, %cst : tensor<32x118xbf16>, tensor<bf16>
  }
  func.func private @relu_0(%arg0: tensor<32x2048xbf16>) -> tensor<32x2048xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<32x2048xbf16>
    %1 = stablehlo.maximum %arg0, %0 : tensor<32x2048xbf16>
    return %1 : tensor<32x2048xbf16>
  }
  func.func private @softplus(%arg0: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<32xf32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %3 = stablehlo.subtract %arg0, %2 : tensor<32xf32>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xi1>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %6 = stablehlo.add %arg0, %5 : tensor<32xf32>
    %7 = stablehlo.abs %3 : tensor<32xf32>
    %8 = stablehlo.negate %7 : tensor<32xf32>
    %9 = stablehlo.exponential %8 : tensor<32xf32>
    %10 = stablehlo.log_plus_one %9 : tensor<32xf32>
    %11 = stablehlo.add %1, %10 : tensor<32xf32>
    %12 = stablehlo.select %4, %6, %11 : tensor<32xi1>, tensor<32xf32>
    %cst_0 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %14 = stablehlo.compare EQ, %arg0, %13, FLOAT : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %16 = stablehlo.select %14, %15, %arg0 : tensor<32xi1>, tensor<32xf32>
    %cst_2 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %18 = stablehlo.compare EQ, %12, %17, FLOAT : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xi1>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %20 = stablehlo.select %18, %19, %12 : tensor<32xi1>, tensor<32xf32>
    %21 = stablehlo.subtract %16, %20 : tensor<32xf32>
    %22 = stablehlo.exponential %21 : tensor<32xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_5 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %23 = stablehlo.compare EQ, %cst_4, %cst_5, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.select %23, %cst_7, %cst_6 : tensor<i1>, tensor<f32>
    %cst_8 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %26 = stablehlo.compare EQ, %12, %25, FLOAT : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xi1>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %28 = stablehlo.select %26, %27, %12 : tensor<32xi1>, tensor<32xf32>
    %29 = stablehlo.broadcast_in_dim %24, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %30 = stablehlo.subtract %29, %28 : tensor<32xf32>
    %31 = stablehlo.exponential %30 : tensor<32xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %33 = stablehlo.multiply %32, %31 : tensor<32xf32>
    return %12, %22, %33 : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>
  }
  func.func private @softplus_1(%arg0: tensor<32xf32>, %arg1: tensor<32xf32>, %arg2: tensor<32xf32>) -> tensor<32xf32> {
    %0 = stablehlo.multiply %arg2, %arg0 : tensor<32xf32>
    return %0 : tensor<32xf32>
  }
  func.func private @_pad_2(%arg0: tensor<bf16>, %arg1: tensor<32x118xbf16>) -> tensor<32x41xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.pad %arg1, %cst, low = [0, 0], high = [0, -77], interior = [0, 0] : (tensor<32x118xbf16>, tensor<bf16>) -> tensor<32x41xbf16>
    %1 = stablehlo.slice %0 [0:32, 0:41] : (tensor<32x41xbf16>) -> tensor<32x41xbf16>
    return %1 : tensor<32x41xbf16>
  }
}
