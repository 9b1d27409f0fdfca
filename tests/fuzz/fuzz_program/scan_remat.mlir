module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8192x1024xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<1024x8192xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<8x4096x1024xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<8x1024x4096xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<8x1024x8x128xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<8x1024xf32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<8x1024xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<8x8x128x1024xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<8x1024x8x128xf32> {tf.aliasing_output = 8 : i32}, %arg9: tensor<8x1024x4096xf32> {tf.aliasing_output = 9 : i32}, %arg10: tensor<8x1024x8x128xf32> {tf.aliasing_output = 10 : i32}, %arg11: tensor<1024xf32> {tf.aliasing_output = 11 : i32}, %arg12: tensor<8192x1024xf32> {tf.aliasing_output = 12 : i32}, %arg13: tensor<1024x8192xf32> {tf.aliasing_output = 13 : i32}, %arg14: tensor<8x4096x1024xf32> {tf.aliasing_output = 14 : i32}, %arg15: tensor<8x1024x4096xf32> {tf.aliasing_output = 15 : i32}, %arg16: tensor<8x1024x8x128xf32> {tf.aliasing_output = 16 : i32}, %arg17: tensor<8x1024xf32> {tf.aliasing_output = 17 : i32}, %arg18: tensor<8x1024xf32> {tf.aliasing_output = 18 : i32}, %arg19: tensor<8x8x128x1024xf32> {tf.aliasing_output = 19 : i32}, %arg20: tensor<8x1024x8x128xf32> {tf.aliasing_output = 20 : i32}, %arg21: tensor<8x1024x4096xf32> {tf.aliasing_output = 21 : i32}, %arg22: tensor<8x1024x8x128xf32> {tf.aliasing_output = 22 : i32}, %arg23: tensor<1024xf32> {tf.aliasing_output = 23 : i32}, %arg24: tensor<8192x1024xf32> {tf.aliasing_output = 24 : i32}, %arg25: tensor<1024x8192xf32> {tf.aliasing_output = 25 : i32}, %arg26: tensor<8x4096x1024xf32> {tf.aliasing_output = 26 : i32}, %arg27: tensor<8x1024x4096xf32> {tf.aliasing_output = 27 : i32}, %arg28: tensor<8x1024x8x128xf32> {tf.aliasing_output = 28 : i32}, %arg29: tensor<8x1024xf32> {tf.aliasing_output = 29 : i32}, %arg30: tensor<8x1024xf32> {tf.aliasing_output = 30 : i32}, %arg31: tensor<8x8x128x1024xf32> {tf.aliasing_output = 31 : i32}, %arg32: tensor<8x1024x8x128xf32> {tf.aliasing_output = 32 : i32}, %arg33: tensor<8x1024x4096xf32> {tf.aliasing_output = 33 : i32}, %arg34: tensor<8x1024x8x128xf32> {tf.aliasing_output = 34 : i32}, %arg35: tensor<1024xf32> {tf.aliasing_output = 35 : i32}, %arg36: tensor<32x512xi32>, %arg37: tensor<32x512xi32>) -> (tensor<8192x1024xf32> {jax.result_info = "result[0][0]['emb']"}, tensor<1024x8192xf32> {jax.result_info = "result[0][0]['head']"}, tensor<8x4096x1024xf32> {jax.result_info = "result[0][0]['layers']['down']"}, tensor<8x1024x4096xf32> {jax.result_info = "result[0][0]['layers']['gate']"}, tensor<8x1024x8x128xf32> {jax.result_info = "result[0][0]['layers']['k']"}, tensor<8x1024xf32> {jax.result_info = "result[0][0]['layers']['n1']"}, tensor<8x1024xf32> {jax.result_info = "result[0][0]['layers']['n2']"}, tensor<8x8x128x1024xf32> {jax.result_info = "result[0][0]['layers']['o']"}, tensor<8x1024x8x128xf32> {jax.result_info = "result[0][0]['layers']['q']"}, tensor<8x1024x4096xf32> {jax.result_info = "result[0][0]['layers']['up']"}, tensor<8x1024x8x128xf32> {jax.result_info = "result[0][0]['layers']['v']"}, tensor<1024xf32> {jax.result_info = "result[0][0]['nf']"}, tensor<8192x1024xf32> {jax.result_info = "result[0][1]['emb']"}, tensor<1024x8192xf32> {jax.result_info = "result[0][1]['head']"}, tensor<8x4096x1024xf32> {jax.result_info = "result[0][1]['layers']['down']"}, tensor<8x1024x4096xf32> {jax.result_info = "result[0][1]['layers']['gate']"}, tensor<8x1024x8x128xf32> {jax.result_info = "result[0][1]['layers']['k']"}, tensor<8x1024xf32> {jax.result_info = "result[0][1]['layers']['n1']"}, tensor<8x1024xf32> {jax.result_info = "result[0][1]['layers']['n2']"}, tensor<8x8x128x1024xf32> {jax.result_info = "result[0][1]['layers']['o']"}, tensor<8x1024x8x128xf32> {jax.result_info = "result[0][1]['layers']['q']"}, tensor<8x1024x4096xf32> {jax.result_info = "result[0][1]['layers']['up']"}, tensor<8x1024x8x128xf32> {jax.result_info = "result[0][1]['layers']['v']"}, tensor<1024xf32> {jax.result_info = "result[0][1]['nf']"}, tensor<8192x1024xf32> {jax.result_info = "result[0][2]['emb']"}, tensor<1024x8192xf32> {jax.result_info = "result[0][2]['head']"}, tensor<8x4096x1024xf32> {jax.result_info = "result[0][2]['layers']['down']"}, tensor<8x1024x4096xf32> {jax.result_info = "result[0][2]['layers']['gate']"}, tensor<8x1024x8x128xf32> {jax.result_info = "result[0][2]['layers']['k']"}, tensor<8x1024xf32> {jax.result_info = "result[0][2]['layers']['n1']"}, tensor<8x1024xf32> {jax.result_info = "result[0][2]['layers']['n2']"}, tensor<8x8x128x1024xf32> {jax.result_info = "result[0][2]['layers']['o']"}, tensor<8x1024x8x128xf32> {jax.result_info = "result[0][2]['layers']['q']"}, tensor<8x1024x4096xf32> {jax.result_info = "result[0][2]['layers']['up']"}, tensor<8x1024x8x128xf32> {jax.result_info = "result[0][2]['layers']['v']"}, tensor<1024xf32> {jax.result_info = "result[0][2]['nf']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<8192x1024xf32>) -> tensor<8192x1024xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32x512xi32>
    %2 = stablehlo.compare LT, %arg36, %1, SIGNED : (tensor<32x512xi32>, tensor<32x512xi32>) -> tensor<32x512xi1>
    %c_0 = stablehlo.constant dense<8192> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<32x512xi32>
    %4 = stablehlo.add %arg36, %3 : tensor<32x512xi32>
    %5 = stablehlo.select %2, %4, %arg36 : tensor<32x512xi1>, tensor<32x512xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<32x512xi32>) -> tensor<32x512x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1024>}> : (tensor<8192x1024xbf16>, tensor<32x512x1xi32>) -> tensor<32x512x1024xbf16>
    %c_1 = stablehlo.constant dense<true> : tensor<i1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i1>) -> tensor<512x512xi1>
    %9 = call @tril(%8) : (tensor<512x512xi1>) -> tensor<512x512xi1>
    %cst = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %10:2 = call @_where(%9, %cst) : (tensor<512x512xi1>, tensor<f32>) -> (tensor<32x8x512x512xi1>, tensor<32x8x512x512xf32>)
    call @silu() : () -> ()
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<bf16>) -> tensor<8x32x512x1024xbf16>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %12:14 = stablehlo.while(%iterArg = %arg2, %iterArg_128 = %arg3, %iterArg_129 = %arg4, %iterArg_130 = %arg5, %iterArg_131 = %arg6, %iterArg_132 = %arg7, %iterArg_133 = %arg8, %iterArg_134 = %arg9, %iterArg_135 = %arg10, %iterArg_136 = %10#0, %iterArg_137 = %10#1, %iterArg_138 = %c_3, %iterArg_139 = %7, %iterArg_140 = %11) : tensor<8x4096x1024xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024xf32>, tensor<8x1024xf32>, tensor<8x8x128x1024xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>, tensor<32x8x512x512xi1>, tensor<32x8x512x512xf32>, tensor<i32>, tensor<32x512x1024xbf16>, tensor<8x32x512x1024xbf16>
    cond {
      %c_141 = stablehlo.constant dense<8> : tensor<i32>
      %384 = stablehlo.compare LT, %iterArg_138, %c_141, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %384 : tensor<i1>
    } do {
      %384 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_138) : (tensor<8x4096x1024xf32>, tensor<i32>) -> tensor<4096x1024xf32>
      %385 = func.call @dynamic_index_in_dim_0(%iterArg_128, %iterArg_138) : (tensor<8x1024x4096xf32>, tensor<i32>) -> tensor<1024x4096xf32>
      %386 = func.call @dynamic_index_in_dim_1(%iterArg_129, %iterArg_138) : (tensor<8x1024x8x128xf32>, tensor<i32>) -> tensor<1024x8x128xf32>
      %387 = func.call @dynamic_index_in_dim_2(%iterArg_130, %iterArg_138) : (tensor<8x1024xf32>, tensor<i32>) -> tensor<1024xf32>
      %388 = func.call @dynamic_index_in_dim_2(%iterArg_131, %iterArg_138) : (tensor<8x1024xf32>, tensor<i32>) -> tensor<1024xf32>
      %389 = func.call @dynamic_index_in_dim_3(%iterArg_132, %iterArg_138) : (tensor<8x8x128x1024xf32>, tensor<i32>) -> tensor<8x128x1024xf32>
      %390 = func.call @dynamic_index_in_dim_1(%iterArg_133, %iterArg_138) : (tensor<8x1024x8x128xf32>, tensor<i32>) -> tensor<1024x8x128xf32>
      %391 = func.call @dynamic_index_in_dim_0(%iterArg_134, %iterArg_138) : (tensor<8x1024x4096xf32>, tensor<i32>) -> tensor<1024x4096xf32>
      %392 = func.call @dynamic_index_in_dim_1(%iterArg_135, %iterArg_138) : (tensor<8x1024x8x128xf32>, tensor<i32>) -> tensor<1024x8x128xf32>
      %393:2 = func.call @closed_call(%iterArg_136, %iterArg_137, %iterArg_139, %384, %385, %386, %387, %388, %389, %390, %391, %392) : (tensor<32x8x512x512xi1>, tensor<32x8x512x512xf32>, tensor<32x512x1024xbf16>, tensor<4096x1024xf32>, tensor<1024x4096xf32>, tensor<1024x8x128xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<8x128x1024xf32>, tensor<1024x8x128xf32>, tensor<1024x4096xf32>, tensor<1024x8x128xf32>) -> (tensor<32x512x1024xbf16>, tensor<32x512x1024xbf16>)
      %394 = func.call @dynamic_update_index_in_dim(%iterArg_140, %393#1, %iterArg_138) : (tensor<8x32x512x1024xbf16>, tensor<32x512x1024xbf16>, tensor<i32>) -> tensor<8x32x512x1024xbf16>
      %c_141 = stablehlo.constant dense<1> : tensor<i32>
      %395 = stablehlo.add %iterArg_138, %c_141 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_128, %iterArg_129, %iterArg_130, %iterArg_131, %iterArg_132, %iterArg_133, %iterArg_134, %iterArg_135, %iterArg_136, %iterArg_137, %395, %393#0, %394 : tensor<8x4096x1024xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024xf32>, tensor<8x1024xf32>, tensor<8x8x128x1024xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>, tensor<32x8x512x512xi1>, tensor<32x8x512x512xf32>, tensor<i32>, tensor<32x512x1024xbf16>, tensor<8x32x512x1024xbf16>
    }
    %13 = stablehlo.convert %12#12 : (tensor<32x512x1024xbf16>) -> tensor<32x512x1024xf32>
    %14 = chlo.square %13 : tensor<32x512x1024xf32> -> tensor<32x512x1024xf32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<32x512x1024xf32>
    %16 = stablehlo.multiply %15, %13 : tensor<32x512x1024xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%14 init: %cst_5) applies stablehlo.add across dimensions = [2] : (tensor<32x512x1024xf32>, tensor<f32>) -> tensor<32x512xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<32x512xf32>) -> tensor<32x512x1xf32>
    %cst_6 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<32x512x1xf32>
    %20 = stablehlo.divide %18, %19 : tensor<32x512x1xf32>
    %cst_7 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<32x512x1xf32>
    %22 = stablehlo.add %20, %21 : tensor<32x512x1xf32>
    %23 = stablehlo.rsqrt %22 : tensor<32x512x1xf32>
    %24 = stablehlo.divide %23, %22 : tensor<32x512x1xf32>
    %cst_8 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<32x512x1xf32>
    %26 = stablehlo.multiply %25, %24 : tensor<32x512x1xf32>
    %27 = stablehlo.convert %23 : (tensor<32x512x1xf32>) -> tensor<32x512x1xbf16>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2] : (tensor<32x512x1xbf16>) -> tensor<32x512x1024xbf16>
    %29 = stablehlo.multiply %12#12, %28 : tensor<32x512x1024xbf16>
    %30 = stablehlo.convert %arg11 : (tensor<1024xf32>) -> tensor<1024xbf16>
    %31 = stablehlo.broadcast_in_dim %30, dims = [2] : (tensor<1024xbf16>) -> tensor<1x1x1024xbf16>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<1x1x1024xbf16>) -> tensor<32x512x1024xbf16>
    %33 = stablehlo.multiply %29, %32 : tensor<32x512x1024xbf16>
    %34 = stablehlo.convert %arg1 : (tensor<1024x8192xf32>) -> tensor<1024x8192xbf16>
    %35 = stablehlo.dot_general %33, %34, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x512x1024xbf16>, tensor<1024x8192xbf16>) -> tensor<32x512x8192xbf16>
    %36 = stablehlo.convert %35 : (tensor<32x512x8192xbf16>) -> tensor<32x512x8192xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_9) applies stablehlo.maximum across dimensions = [2] : (tensor<32x512x8192xf32>, tensor<f32>) -> tensor<32x512xf32>
    %38 = stablehlo.reshape %37 : (tensor<32x512xf32>) -> tensor<32x512x1xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<32x512x1xf32>) -> tensor<32x512x8192xf32>
    %40 = stablehlo.compare EQ, %36, %39, FLOAT : (tensor<32x512x8192xf32>, tensor<32x512x8192xf32>) -> tensor<32x512x8192xi1>
    %41 = stablehlo.convert %40 : (tensor<32x512x8192xi1>) -> tensor<32x512x8192xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.reduce(%41 init: %cst_10) applies stablehlo.add across dimensions = [2] : (tensor<32x512x8192xf32>, tensor<f32>) -> tensor<32x512xf32>
    %cst_11 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<32x512xf32>
    %44 = stablehlo.maximum %43, %37 : tensor<32x512xf32>
    %45 = stablehlo.compare EQ, %37, %44, FLOAT : (tensor<32x512xf32>, tensor<32x512xf32>) -> tensor<32x512xi1>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<32x512xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<32x512xf32>
    %48 = stablehlo.select %45, %46, %47 : tensor<32x512xi1>, tensor<32x512xf32>
    %cst_14 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<32x512xf32>
    %50 = stablehlo.compare EQ, %49, %44, FLOAT : (tensor<32x512xf32>, tensor<32x512xf32>) -> tensor<32x512xi1>
    %cst_15 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<32x512xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<32x512xf32>
    %53 = stablehlo.select %50, %51, %52 : tensor<32x512xi1>, tensor<32x512xf32>
    %54 = stablehlo.divide %48, %53 : tensor<32x512xf32>
    %55 = stablehlo.is_finite %44 : (tensor<32x512xf32>) -> tensor<32x512xi1>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<32x512xf32>
    %57 = stablehlo.select %55, %44, %56 : tensor<32x512xi1>, tensor<32x512xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<32x512xf32>
    %59 = stablehlo.broadcast_in_dim %57, dims = [0, 1] : (tensor<32x512xf32>) -> tensor<32x512x1xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0, 1, 2] : (tensor<32x512x1xf32>) -> tensor<32x512x8192xf32>
    %61 = stablehlo.subtract %36, %60 : tensor<32x512x8192xf32>
    %62 = stablehlo.exponential %61 : tensor<32x512x8192xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %63 = stablehlo.reduce(%62 init: %cst_19) applies stablehlo.add across dimensions = [2] : (tensor<32x512x8192xf32>, tensor<f32>) -> tensor<32x512xf32>
    %64 = stablehlo.sign %63 : tensor<32x512xf32>
    %65 = stablehlo.abs %63 : tensor<32x512xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<32x512xf32>
    %67 = stablehlo.compare GE, %63, %66, FLOAT : (tensor<32x512xf32>, tensor<32x512xf32>) -> tensor<32x512xi1>
    %68 = stablehlo.log %65 : tensor<32x512xf32>
    %69 = stablehlo.add %68, %57 : tensor<32x512xf32>
    %70 = stablehlo.broadcast_in_dim %arg37, dims = [0, 1] : (tensor<32x512xi32>) -> tensor<32x512x1xi32>
    %71 = stablehlo.iota dim = 2 : tensor<32x512x8192xi32>
    %72 = stablehlo.broadcast_in_dim %70, dims = [0, 1, 2] : (tensor<32x512x1xi32>) -> tensor<32x512x8192xi32>
    %73 = stablehlo.compare EQ, %72, %71, SIGNED : (tensor<32x512x8192xi32>, tensor<32x512x8192xi32>) -> tensor<32x512x8192xi1>
    %c_21 = stablehlo.constant dense<0> : tensor<i32>
    %74:2 = call @_where_6(%73, %36, %c_21) : (tensor<32x512x8192xi1>, tensor<32x512x8192xf32>, tensor<i32>) -> (tensor<32x512x8192xf32>, tensor<32x512x8192xf32>)
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %75 = stablehlo.reduce(%74#0 init: %cst_22) applies stablehlo.add across dimensions = [2] : (tensor<32x512x8192xf32>, tensor<f32>) -> tensor<32x512xf32>
    %76 = stablehlo.subtract %69, %75 : tensor<32x512xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %77 = stablehlo.reduce(%76 init: %cst_23) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x512xf32>, tensor<f32>) -> tensor<f32>
    %cst_24 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %78 = stablehlo.divide %77, %cst_24 : tensor<f32>
    %cst_25 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_26 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %79 = stablehlo.divide %cst_25, %cst_26 : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %79, dims = [] : (tensor<f32>) -> tensor<32x512xf32>
    %81 = stablehlo.negate %80 : tensor<32x512xf32>
    %82 = stablehlo.broadcast_in_dim %81, dims = [0, 1] : (tensor<32x512xf32>) -> tensor<32x512x8192xf32>
    %83 = call @_where_7(%73, %74#1, %82) : (tensor<32x512x8192xi1>, tensor<32x512x8192xf32>, tensor<32x512x8192xf32>) -> tensor<32x512x8192xf32>
    %84 = stablehlo.divide %80, %65 : tensor<32x512xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<32x512xf32>
    %86 = stablehlo.select %67, %85, %84 : tensor<32x512xi1>, tensor<32x512xf32>
    %87 = stablehlo.select %67, %84, %85 : tensor<32x512xi1>, tensor<32x512xf32>
    %88 = stablehlo.negate %86 : tensor<32x512xf32>
    %89 = stablehlo.add %87, %88 : tensor<32x512xf32>
    %90 = stablehlo.broadcast_in_dim %89, dims = [0, 1] : (tensor<32x512xf32>) -> tensor<32x512x8192xf32>
    %91 = stablehlo.multiply %90, %62 : tensor<32x512x8192xf32>
    %92 = stablehlo.add %83, %91 : tensor<32x512x8192xf32>
    %93 = stablehlo.convert %92 : (tensor<32x512x8192xf32>) -> tensor<32x512x8192xbf16>
    %94 = stablehlo.dot_general %93, %33, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x512x8192xbf16>, tensor<32x512x1024xbf16>) -> tensor<8192x1024xbf16>
    %95 = stablehlo.transpose %94, dims = [1, 0] : (tensor<8192x1024xbf16>) -> tensor<1024x8192xbf16>
    %96 = stablehlo.dot_general %93, %34, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x512x8192xbf16>, tensor<1024x8192xbf16>) -> tensor<32x512x1024xbf16>
    %97 = stablehlo.convert %95 : (tensor<1024x8192xbf16>) -> tensor<1024x8192xf32>
    %98 = stablehlo.multiply %29, %96 : tensor<32x512x1024xbf16>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %99 = stablehlo.reduce(%98 init: %cst_28) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x512x1024xbf16>, tensor<bf16>) -> tensor<1024xbf16>
    %100 = stablehlo.reshape %99 : (tensor<1024xbf16>) -> tensor<1x1x1024xbf16>
    %101 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<1x1x1024xbf16>) -> tensor<32x512x1024xbf16>
    %102 = stablehlo.multiply %96, %101 : tensor<32x512x1024xbf16>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %103 = stablehlo.reduce(%100 init: %cst_29) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x1024xbf16>, tensor<bf16>) -> tensor<1024xbf16>
    %104 = stablehlo.convert %103 : (tensor<1024xbf16>) -> tensor<1024xf32>
    %105 = stablehlo.multiply %12#12, %102 : tensor<32x512x1024xbf16>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %106 = stablehlo.reduce(%105 init: %cst_30) applies stablehlo.add across dimensions = [2] : (tensor<32x512x1024xbf16>, tensor<bf16>) -> tensor<32x512xbf16>
    %107 = stablehlo.reshape %106 : (tensor<32x512xbf16>) -> tensor<32x512x1xbf16>
    %108 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2] : (tensor<32x512x1xbf16>) -> tensor<32x512x1024xbf16>
    %109 = stablehlo.multiply %102, %108 : tensor<32x512x1024xbf16>
    %110 = stablehlo.convert %107 : (tensor<32x512x1xbf16>) -> tensor<32x512x1xf32>
    %111 = stablehlo.multiply %110, %26 : tensor<32x512x1xf32>
    %cst_31 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %112 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<32x512x1xf32>
    %113 = stablehlo.divide %111, %112 : tensor<32x512x1xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %114 = stablehlo.reduce(%113 init: %cst_32) applies stablehlo.add across dimensions = [2] : (tensor<32x512x1xf32>, tensor<f32>) -> tensor<32x512xf32>
    %115 = stablehlo.broadcast_in_dim %114, dims = [0, 1] : (tensor<32x512xf32>) -> tensor<32x512x1024xf32>
    %116 = stablehlo.multiply %115, %16 : tensor<32x512x1024xf32>
    %117 = stablehlo.convert %116 : (tensor<32x512x1024xf32>) -> tensor<32x512x1024xbf16>
    %118 = stablehlo.add %109, %117 : tensor<32x512x1024xbf16>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %119 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<8x4096x1024xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<8x1024x4096xf32>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<8x1024xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %123 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<8x1024xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<8x8x128x1024xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<8x1024x4096xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %c_42 = stablehlo.constant dense<0> : tensor<i32>
    %128:21 = stablehlo.while(%iterArg = %12#13, %iterArg_128 = %arg2, %iterArg_129 = %arg3, %iterArg_130 = %arg4, %iterArg_131 = %arg5, %iterArg_132 = %arg6, %iterArg_133 = %arg7, %iterArg_134 = %arg8, %iterArg_135 = %arg9, %iterArg_136 = %arg10, %iterArg_137 = %c_42, %iterArg_138 = %118, %iterArg_139 = %119, %iterArg_140 = %120, %iterArg_141 = %121, %iterArg_142 = %122, %iterArg_143 = %123, %iterArg_144 = %124, %iterArg_145 = %125, %iterArg_146 = %126, %iterArg_147 = %127) : tensor<8x32x512x1024xbf16>, tensor<8x4096x1024xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024xf32>, tensor<8x1024xf32>, tensor<8x8x128x1024xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>, tensor<i32>, tensor<32x512x1024xbf16>, tensor<8x4096x1024xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024xf32>, tensor<8x1024xf32>, tensor<8x8x128x1024xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>
    cond {
      %c_148 = stablehlo.constant dense<8> : tensor<i32>
      %384 = stablehlo.compare LT, %iterArg_137, %c_148, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %384 : tensor<i1>
    } do {
      %c_148 = stablehlo.constant dense<8> : tensor<i32>
      %384 = stablehlo.subtract %c_148, %iterArg_137 : tensor<i32>
      %c_149 = stablehlo.constant dense<1> : tensor<i32>
      %385 = stablehlo.subtract %384, %c_149 : tensor<i32>
      %386 = func.call @dynamic_index_in_dim_8(%iterArg, %385) : (tensor<8x32x512x1024xbf16>, tensor<i32>) -> tensor<32x512x1024xbf16>
      %387 = func.call @dynamic_index_in_dim(%iterArg_128, %385) : (tensor<8x4096x1024xf32>, tensor<i32>) -> tensor<4096x1024xf32>
      %388 = func.call @dynamic_index_in_dim_0(%iterArg_129, %385) : (tensor<8x1024x4096xf32>, tensor<i32>) -> tensor<1024x4096xf32>
      %389 = func.call @dynamic_index_in_dim_1(%iterArg_130, %385) : (tensor<8x1024x8x128xf32>, tensor<i32>) -> tensor<1024x8x128xf32>
      %390 = func.call @dynamic_index_in_dim_2(%iterArg_131, %385) : (tensor<8x1024xf32>, tensor<i32>) -> tensor<1024xf32>
      %391 = func.call @dynamic_index_in_dim_2(%iterArg_132, %385) : (tensor<8x1024xf32>, tensor<i32>) -> tensor<1024xf32>
      %392 = func.call @dynamic_index_in_dim_3(%iterArg_133, %385) : (tensor<8x8x128x1024xf32>, tensor<i32>) -> tensor<8x128x1024xf32>
      %393 = func.call @dynamic_index_in_dim_1(%iterArg_134, %385) : (tensor<8x1024x8x128xf32>, tensor<i32>) -> tensor<1024x8x128xf32>
      %394 = func.call @dynamic_index_in_dim_0(%iterArg_135, %385) : (tensor<8x1024x4096xf32>, tensor<i32>) -> tensor<1024x4096xf32>
      %395 = func.call @dynamic_index_in_dim_1(%iterArg_136, %385) : (tensor<8x1024x8x128xf32>, tensor<i32>) -> tensor<1024x8x128xf32>
      %396:10 = func.call @closed_call_9(%iterArg_138, %386, %387, %388, %389, %390, %391, %392, %393, %394, %395) : (tensor<32x512x1024xbf16>, tensor<32x512x1024xbf16>, tensor<4096x1024xf32>, tensor<1024x4096xf32>, tensor<1024x8x128xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<8x128x1024xf32>, tensor<1024x8x128xf32>, tensor<1024x4096xf32>, tensor<1024x8x128xf32>) -> (tensor<32x512x1024xbf16>, tensor<4096x1024xf32>, tensor<1024x4096xf32>, tensor<1024x8x128xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<8x128x1024xf32>, tensor<1024x8x128xf32>, tensor<1024x4096xf32>, tensor<1024x8x128xf32>)
      %397 = func.call @dynamic_update_index_in_dim_15(%iterArg_139, %396#1, %385) : (tensor<8x4096x1024xf32>, tensor<4096x1024xf32>, tensor<i32>) -> tensor<8x4096x1024xf32>
      %398 = func.call @dynamic_update_index_in_dim_16(%iterArg_140, %396#2, %385) : (tensor<8x1024x4096xf32>, tensor<1024x4096xf32>, tensor<i32>) -> tensor<8x1024x4096xf32>
      %399 = func.call @dynamic_update_index_in_dim_17(%iterArg_141, %396#3, %385) : (tensor<8x1024x8x128xf32>, tensor<1024x8x128xf32>, tensor<i32>) -> tensor<8x1024x8x128xf32>
      %400 = func.call @dynamic_update_index_in_dim_18(%iterArg_142, %396#4, %385) : (tensor<8x1024xf32>, tensor<1024xf32>, tensor<i32>) -> tensor<8x1024xf32>
      %401 = func.call @dynamic_update_index_in_dim_18(%iterArg_143, %396#5, %385) : (tensor<8x1024xf32>, tensor<1024xf32>, tensor<i32>) -> tensor<8x1024xf32>
      %402 = func.call @dynamic_update_index_in_dim_19(%iterArg_144, %396#6, %385) : (tensor<8x8x128x1024xf32>, tensor<8x128x1024xf32>, tensor<i32>) -> tensor<8x8x128x1024xf32>
      %403 = func.call @dynamic_update_index_in_dim_17(%iterArg_145, %396#7, %385) : (tensor<8x1024x8x128xf32>, tensor<1024x8x128xf32>, tensor<i32>) -> tensor<8x1024x8x128xf32>
      %404 = func.call @dynamic_update_index_in_dim_16(%iterArg_146, %396#8, %385) : (tensor<8x1024x4096xf32>, tensor<1024x4096xf32>, tensor<i32>) -> tensor<8x1024x4096xf32>
      %405 = func.call @dynamic_update_index_in_dim_17(%iterArg_147, %396#9, %385) : (tensor<8x1024x8x128xf32>, tensor<1024x8x128xf32>, tensor<i32>) -> tensor<8x1024x8x128xf32>
      %c_150 = stablehlo.constant dense<1> : tensor<i32>
      %406 = stablehlo.add %iterArg_137, %c_150 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_128, %iterArg_129, %iterArg_130, %iterArg_131, %iterArg_132, %iterArg_133, %iterArg_134, %iterArg_135, %iterArg_136, %406, %396#0, %397, %398, %399, %400, %401, %402, %403, %404, %405 : tensor<8x32x512x1024xbf16>, tensor<8x4096x1024xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024xf32>, tensor<8x1024xf32>, tensor<8x8x128x1024xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>, tensor<i32>, tensor<32x512x1024xbf16>, tensor<8x4096x1024xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024xf32>, tensor<8x1024xf32>, tensor<8x8x128x1024xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>
    }
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %129 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<bf16>) -> tensor<8192x1024xbf16>
    %130 = "stablehlo.scatter"(%129, %6, %128#11) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg38: tensor<bf16>, %arg39: tensor<bf16>):
      %384 = stablehlo.add %arg38, %arg39 : tensor<bf16>
      stablehlo.return %384 : tensor<bf16>
    }) : (tensor<8192x1024xbf16>, tensor<32x512x1xi32>, tensor<32x512x1024xbf16>) -> tensor<8192x1024xbf16>
    %131 = stablehlo.convert %130 : (tensor<8192x1024xbf16>) -> tensor<8192x1024xf32>
    %cst_44 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %132 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<8192x1024xf32>
    %133 = stablehlo.multiply %132, %arg12 : tensor<8192x1024xf32>
    %cst_45 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<8192x1024xf32>
    %135 = stablehlo.multiply %134, %131 : tensor<8192x1024xf32>
    %136 = stablehlo.add %133, %135 : tensor<8192x1024xf32>
    %cst_46 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<1024x8192xf32>
    %138 = stablehlo.multiply %137, %arg13 : tensor<1024x8192xf32>
    %cst_47 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %139 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<1024x8192xf32>
    %140 = stablehlo.multiply %139, %97 : tensor<1024x8192xf32>
    %141 = stablehlo.add %138, %140 : tensor<1024x8192xf32>
    %cst_48 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %142 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<8x4096x1024xf32>
    %143 = stablehlo.multiply %142, %arg14 : tensor<8x4096x1024xf32>
    %cst_49 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<8x4096x1024xf32>
    %145 = stablehlo.multiply %144, %128#12 : tensor<8x4096x1024xf32>
    %146 = stablehlo.add %143, %145 : tensor<8x4096x1024xf32>
    %cst_50 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %147 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<8x1024x4096xf32>
    %148 = stablehlo.multiply %147, %arg15 : tensor<8x1024x4096xf32>
    %cst_51 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %149 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<8x1024x4096xf32>
    %150 = stablehlo.multiply %149, %128#13 : tensor<8x1024x4096xf32>
    %151 = stablehlo.add %148, %150 : tensor<8x1024x4096xf32>
    %cst_52 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %152 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %153 = stablehlo.multiply %152, %arg16 : tensor<8x1024x8x128xf32>
    %cst_53 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %155 = stablehlo.multiply %154, %128#14 : tensor<8x1024x8x128xf32>
    %156 = stablehlo.add %153, %155 : tensor<8x1024x8x128xf32>
    %cst_54 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %157 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<8x1024xf32>
    %158 = stablehlo.multiply %157, %arg17 : tensor<8x1024xf32>
    %cst_55 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %159 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<8x1024xf32>
    %160 = stablehlo.multiply %159, %128#15 : tensor<8x1024xf32>
    %161 = stablehlo.add %158, %160 : tensor<8x1024xf32>
    %cst_56 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %162 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<8x1024xf32>
    %163 = stablehlo.multiply %162, %arg18 : tensor<8x1024xf32>
    %cst_57 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %164 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<8x1024xf32>
    %165 = stablehlo.multiply %164, %128#16 : tensor<8x1024xf32>
    %166 = stablehlo.add %163, %165 : tensor<8x1024xf32>
    %cst_58 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %167 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<8x8x128x1024xf32>
    %168 = stablehlo.multiply %167, %arg19 : tensor<8x8x128x1024xf32>
    %cst_59 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %169 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<8x8x128x1024xf32>
    %170 = stablehlo.multiply %169, %128#17 : tensor<8x8x128x1024xf32>
    %171 = stablehlo.add %168, %170 : tensor<8x8x128x1024xf32>
    %cst_60 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %172 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %173 = stablehlo.multiply %172, %arg20 : tensor<8x1024x8x128xf32>
    %cst_61 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %174 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %175 = stablehlo.multiply %174, %128#18 : tensor<8x1024x8x128xf32>
    %176 = stablehlo.add %173, %175 : tensor<8x1024x8x128xf32>
    %cst_62 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %177 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<8x1024x4096xf32>
    %178 = stablehlo.multiply %177, %arg21 : tensor<8x1024x4096xf32>
    %cst_63 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %179 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<8x1024x4096xf32>
    %180 = stablehlo.multiply %179, %128#19 : tensor<8x1024x4096xf32>
    %181 = stablehlo.add %178, %180 : tensor<8x1024x4096xf32>
    %cst_64 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %182 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %183 = stablehlo.multiply %182, %arg22 : tensor<8x1024x8x128xf32>
    %cst_65 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %184 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %185 = stablehlo.multiply %184, %128#20 : tensor<8x1024x8x128xf32>
    %186 = stablehlo.add %183, %185 : tensor<8x1024x8x128xf32>
    %cst_66 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %187 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %188 = stablehlo.multiply %187, %arg23 : tensor<1024xf32>
    %cst_67 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %189 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %190 = stablehlo.multiply %189, %104 : tensor<1024xf32>
    %191 = stablehlo.add %188, %190 : tensor<1024xf32>
    %cst_68 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %192 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<8192x1024xf32>
    %193 = stablehlo.multiply %192, %arg24 : tensor<8192x1024xf32>
    %cst_69 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %194 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<8192x1024xf32>
    %195 = stablehlo.multiply %194, %131 : tensor<8192x1024xf32>
    %196 = stablehlo.multiply %195, %131 : tensor<8192x1024xf32>
    %197 = stablehlo.add %193, %196 : tensor<8192x1024xf32>
    %cst_70 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %198 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<1024x8192xf32>
    %199 = stablehlo.multiply %198, %arg25 : tensor<1024x8192xf32>
    %cst_71 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %200 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<1024x8192xf32>
    %201 = stablehlo.multiply %200, %97 : tensor<1024x8192xf32>
    %202 = stablehlo.multiply %201, %97 : tensor<1024x8192xf32>
    %203 = stablehlo.add %199, %202 : tensor<1024x8192xf32>
    %cst_72 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %204 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<8x4096x1024xf32>
    %205 = stablehlo.multiply %204, %arg26 : tensor<8x4096x1024xf32>
    %cst_73 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %206 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<8x4096x1024xf32>
    %207 = stablehlo.multiply %206, %128#12 : tensor<8x4096x1024xf32>
    %208 = stablehlo.multiply %207, %128#12 : tensor<8x4096x1024xf32>
    %209 = stablehlo.add %205, %208 : tensor<8x4096x1024xf32>
    %cst_74 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %210 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<8x1024x4096xf32>
    %211 = stablehlo.multiply %210, %arg27 : tensor<8x1024x4096xf32>
    %cst_75 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %212 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<8x1024x4096xf32>
    %213 = stablehlo.multiply %212, %128#13 : tensor<8x1024x4096xf32>
    %214 = stablehlo.multiply %213, %128#13 : tensor<8x1024x4096xf32>
    %215 = stablehlo.add %211, %214 : tensor<8x1024x4096xf32>
    %cst_76 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %216 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %217 = stablehlo.multiply %216, %arg28 : tensor<8x1024x8x128xf32>
    %cst_77 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %218 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %219 = stablehlo.multiply %218, %128#14 : tensor<8x1024x8x128xf32>
    %220 = stablehlo.multiply %219, %128#14 : tensor<8x1024x8x128xf32>
    %221 = stablehlo.add %217, %220 : tensor<8x1024x8x128xf32>
    %cst_78 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %222 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<8x1024xf32>
    %223 = stablehlo.multiply %222, %arg29 : tensor<8x1024xf32>
    %cst_79 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %224 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<8x1024xf32>
    %225 = stablehlo.multiply %224, %128#15 : tensor<8x1024xf32>
    %226 = stablehlo.multiply %225, %128#15 : tensor<8x1024xf32>
    %227 = stablehlo.add %223, %226 : tensor<8x1024xf32>
    %cst_80 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %228 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<8x1024xf32>
    %229 = stablehlo.multiply %228, %arg30 : tensor<8x1024xf32>
    %cst_81 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %230 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<8x1024xf32>
    %231 = stablehlo.multiply %230, %128#16 : tensor<8x1024xf32>
    %232 = stablehlo.multiply %231, %128#16 : tensor<8x1024xf32>
    %233 = stablehlo.add %229, %232 : tensor<8x1024xf32>
    %cst_82 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %234 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<8x8x128x1024xf32>
    %235 = stablehlo.multiply %234, %arg31 : tensor<8x8x128x1024xf32>
    %cst_83 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %236 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<8x8x128x1024xf32>
    %237 = stablehlo.multiply %236, %128#17 : tensor<8x8x128x1024xf32>
    %238 = stablehlo.multiply %237, %128#17 : tensor<8x8x128x1024xf32>
    %239 = stablehlo.add %235, %238 : tensor<8x8x128x1024xf32>
    %cst_84 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %240 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %241 = stablehlo.multiply %240, %arg32 : tensor<8x1024x8x128xf32>
    %cst_85 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %242 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %243 = stablehlo.multiply %242, %128#18 : tensor<8x1024x8x128xf32>
    %244 = stablehlo.multiply %243, %128#18 : tensor<8x1024x8x128xf32>
    %245 = stablehlo.add %241, %244 : tensor<8x1024x8x128xf32>
    %cst_86 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %246 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<8x1024x4096xf32>
    %247 = stablehlo.multiply %246, %arg33 : tensor<8x1024x4096xf32>
    %cst_87 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %248 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<8x1024x4096xf32>
    %249 = stablehlo.multiply %248, %128#19 : tensor<8x1024x4096xf32>
    %250 = stablehlo.multiply %249, %128#19 : tensor<8x1024x4096xf32>
    %251 = stablehlo.add %247, %250 : tensor<8x1024x4096xf32>
    %cst_88 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %252 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %253 = stablehlo.multiply %252, %arg34 : tensor<8x1024x8x128xf32>
    %cst_89 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %254 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %255 = stablehlo.multiply %254, %128#20 : tensor<8x1024x8x128xf32>
    %256 = stablehlo.multiply %255, %128#20 : tensor<8x1024x8x128xf32>
    %257 = stablehlo.add %253, %256 : tensor<8x1024x8x128xf32>
    %cst_90 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %258 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %259 = stablehlo.multiply %258, %arg35 : tensor<1024xf32>
    %cst_91 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %260 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %261 = stablehlo.multiply %260, %104 : tensor<1024xf32>
    %262 = stablehlo.multiply %261, %104 : tensor<1024xf32>
    %263 = stablehlo.add %259, %262 : tensor<1024xf32>
    %264 = stablehlo.sqrt %197 : tensor<8192x1024xf32>
    %cst_92 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %265 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<8192x1024xf32>
    %266 = stablehlo.add %264, %265 : tensor<8192x1024xf32>
    %267 = stablehlo.divide %136, %266 : tensor<8192x1024xf32>
    %cst_93 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %268 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f32>) -> tensor<8192x1024xf32>
    %269 = stablehlo.multiply %268, %arg0 : tensor<8192x1024xf32>
    %270 = stablehlo.add %267, %269 : tensor<8192x1024xf32>
    %cst_94 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %271 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<8192x1024xf32>
    %272 = stablehlo.multiply %271, %270 : tensor<8192x1024xf32>
    %273 = stablehlo.subtract %arg0, %272 : tensor<8192x1024xf32>
    %274 = stablehlo.sqrt %203 : tensor<1024x8192xf32>
    %cst_95 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %275 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<1024x8192xf32>
    %276 = stablehlo.add %274, %275 : tensor<1024x8192xf32>
    %277 = stablehlo.divide %141, %276 : tensor<1024x8192xf32>
    %cst_96 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %278 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<1024x8192xf32>
    %279 = stablehlo.multiply %278, %arg1 : tensor<1024x8192xf32>
    %280 = stablehlo.add %277, %279 : tensor<1024x8192xf32>
    %cst_97 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %281 = stablehlo.broadcast_in_dim %cst_97, dims = [] : (tensor<f32>) -> tensor<1024x8192xf32>
    %282 = stablehlo.multiply %281, %280 : tensor<1024x8192xf32>
    %283 = stablehlo.subtract %arg1, %282 : tensor<1024x8192xf32>
    %284 = stablehlo.sqrt %209 : tensor<8x4096x1024xf32>
    %cst_98 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %285 = stablehlo.broadcast_in_dim %cst_98, dims = [] : (tensor<f32>) -> tensor<8x4096x1024xf32>
    %286 = stablehlo.add %284, %285 : tensor<8x4096x1024xf32>
    %287 = stablehlo.divide %146, %286 : tensor<8x4096x1024xf32>
    %cst_99 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %288 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<8x4096x1024xf32>
    %289 = stablehlo.multiply %288, %arg2 : tensor<8x4096x1024xf32>
    %290 = stablehlo.add %287, %289 : tensor<8x4096x1024xf32>
    %cst_100 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %291 = stablehlo.broadcast_in_dim %cst_100, dims = [] : (tensor<f32>) -> tensor<8x4096x1024xf32>
    %292 = stablehlo.multiply %291, %290 : tensor<8x4096x1024xf32>
    %293 = stablehlo.subtract %arg2, %292 : tensor<8x4096x1024xf32>
    %294 = stablehlo.sqrt %215 : tensor<8x1024x4096xf32>
    %cst_101 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %295 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<8x1024x4096xf32>
    %296 = stablehlo.add %294, %295 : tensor<8x1024x4096xf32>
    %297 = stablehlo.divide %151, %296 : tensor<8x1024x4096xf32>
    %cst_102 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %298 = stablehlo.broadcast_in_dim %cst_102, dims = [] : (tensor<f32>) -> tensor<8x1024x4096xf32>
    %299 = stablehlo.multiply %298, %arg3 : tensor<8x1024x4096xf32>
    %300 = stablehlo.add %297, %299 : tensor<8x1024x4096xf32>
    %cst_103 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %301 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<8x1024x4096xf32>
    %302 = stablehlo.multiply %301, %300 : tensor<8x1024x4096xf32>
    %303 = stablehlo.subtract %arg3, %302 : tensor<8x1024x4096xf32>
    %304 = stablehlo.sqrt %221 : tensor<8x1024x8x128xf32>
    %cst_104 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %305 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %306 = stablehlo.add %304, %305 : tensor<8x1024x8x128xf32>
    %307 = stablehlo.divide %156, %306 : tensor<8x1024x8x128xf32>
    %cst_105 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %308 = stablehlo.broadcast_in_dim %cst_105, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %309 = stablehlo.multiply %308, %arg4 : tensor<8x1024x8x128xf32>
    %310 = stablehlo.add %307, %309 : tensor<8x1024x8x128xf32>
    %cst_106 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %311 = stablehlo.broadcast_in_dim %cst_106, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %312 = stablehlo.multiply %311, %310 : tensor<8x1024x8x128xf32>
    %313 = stablehlo.subtract %arg4, %312 : tensor<8x1024x8x128xf32>
    %314 = stablehlo.sqrt %227 : tensor<8x1024xf32>
    %cst_107 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %315 = stablehlo.broadcast_in_dim %cst_107, dims = [] : (tensor<f32>) -> tensor<8x1024xf32>
    %316 = stablehlo.add %314, %315 : tensor<8x1024xf32>
    %317 = stablehlo.divide %161, %316 : tensor<8x1024xf32>
    %cst_108 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %318 = stablehlo.broadcast_in_dim %cst_108, dims = [] : (tensor<f32>) -> tensor<8x1024xf32>
    %319 = stablehlo.multiply %318, %arg5 : tensor<8x1024xf32>
    %320 = stablehlo.add %317, %319 : tensor<8x1024xf32>
    %cst_109 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %321 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<8x1024xf32>
    %322 = stablehlo.multiply %321, %320 : tensor<8x1024xf32>
    %323 = stablehlo.subtract %arg5, %322 : tensor<8x1024xf32>
    %324 = stablehlo.sqrt %233 : tensor<8x1024xf32>
    %cst_110 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %325 = stablehlo.broadcast_in_dim %cst_110, dims = [] : (tensor<f32>) -> tensor<8x1024xf32>
    %326 = stablehlo.add %324, %325 : tensor<8x1024xf32>
    %327 = stablehlo.divide %166, %326 : tensor<8x1024xf32>
    %cst_111 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %328 = stablehlo.broadcast_in_dim %cst_111, dims = [] : (tensor<f32>) -> tensor<8x1024xf32>
    %329 = stablehlo.multiply %328, %arg6 : tensor<8x1024xf32>
    %330 = stablehlo.add %327, %329 : tensor<8x1024xf32>
    %cst_112 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %331 = stablehlo.broadcast_in_dim %cst_112, dims = [] : (tensor<f32>) -> tensor<8x1024xf32>
    %332 = stablehlo.multiply %331, %330 : tensor<8x1024xf32>
    %333 = stablehlo.subtract %arg6, %332 : tensor<8x1024xf32>
    %334 = stablehlo.sqrt %239 : tensor<8x8x128x1024xf32>
    %cst_113 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %335 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f32>) -> tensor<8x8x128x1024xf32>
    %336 = stablehlo.add %334, %335 : tensor<8x8x128x1024xf32>
    %337 = stablehlo.divide %171, %336 : tensor<8x8x128x1024xf32>
    %cst_114 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %338 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<f32>) -> tensor<8x8x128x1024xf32>
    %339 = stablehlo.multiply %338, %arg7 : tensor<8x8x128x1024xf32>
    %340 = stablehlo.add %337, %339 : tensor<8x8x128x1024xf32>
    %cst_115 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %341 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<8x8x128x1024xf32>
    %342 = stablehlo.multiply %341, %340 : tensor<8x8x128x1024xf32>
    %343 = stablehlo.subtract %arg7, %342 : tensor<8x8x128x1024xf32>
    %344 = stablehlo.sqrt %245 : tensor<8x1024x8x128xf32>
    %cst_116 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %345 = stablehlo.broadcast_in_dim %cst_116, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %346 = stablehlo.add %344, %345 : tensor<8x1024x8x128xf32>
    %347 = stablehlo.divide %176, %346 : tensor<8x1024x8x128xf32>
    %cst_117 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %348 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %349 = stablehlo.multiply %348, %arg8 : tensor<8x1024x8x128xf32>
    %350 = stablehlo.add %347, %349 : tensor<8x1024x8x128xf32>
    %cst_118 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %351 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %352 = stablehlo.multiply %351, %350 : tensor<8x1024x8x128xf32>
    %353 = stablehlo.subtract %arg8, %352 : tensor<8x1024x8x128xf32>
    %354 = stablehlo.sqrt %251 : tensor<8x1024x4096xf32>
    %cst_119 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %355 = stablehlo.broadcast_in_dim %cst_119, dims = [] : (tensor<f32>) -> tensor<8x1024x4096xf32>
    %356 = stablehlo.add %354, %355 : tensor<8x1024x4096xf32>
    %357 = stablehlo.divide %181, %356 : tensor<8x1024x4096xf32>
    %cst_120 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %358 = stablehlo.broadcast_in_dim %cst_120, dims = [] : (tensor<f32>) -> tensor<8x1024x4096xf32>
    %359 = stablehlo.multiply %358, %arg9 : tensor<8x1024x4096xf32>
    %360 = stablehlo.add %357, %359 : tensor<8x1024x4096xf32>
    %cst_121 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %361 = stablehlo.broadcast_in_dim %cst_121, dims = [] : (tensor<f32>) -> tensor<8x1024x4096xf32>
    %362 = stablehlo.multiply %361, %360 : tensor<8x1024x4096xf32>
    %363 = stablehlo.subtract %arg9, %362 : tensor<8x1024x4096xf32>
    %364 = stablehlo.sqrt %257 : tensor<8x1024x8x128xf32>
    %cst_122 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %365 = stablehlo.broadcast_in_dim %cst_122, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %366 = stablehlo.add %364, %365 : tensor<8x1024x8x128xf32>
    %367 = stablehlo.divide %186, %366 : tensor<8x1024x8x128xf32>
    %cst_123 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %368 = stablehlo.broadcast_in_dim %cst_123, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %369 = stablehlo.multiply %368, %arg10 : tensor<8x1024x8x128xf32>
    %370 = stablehlo.add %367, %369 : tensor<8x1024x8x128xf32>
    %cst_124 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %371 = stablehlo.broadcast_in_dim %cst_124, dims = [] : (tensor<f32>) -> tensor<8x1024x8x128xf32>
    %372 = stablehlo.multiply %371, %370 : tensor<8x1024x8x128xf32>
    %373 = stablehlo.subtract %arg10, %372 : tensor<8x1024x8x128xf32>
    %374 = stablehlo.sqrt %263 : tensor<1024xf32>
    %cst_125 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %375 = stablehlo.broadcast_in_dim %cst_125, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %376 = stablehlo.add %374, %375 : tensor<1024xf32>
    %377 = stablehlo.divide %191, %376 : tensor<1024xf32>
    %cst_126 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %378 = stablehlo.broadcast_in_dim %cst_126, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %379 = stablehlo.multiply %378, %arg11 : tensor<1024xf32>
    %380 = stablehlo.add %377, %379 : tensor<1024xf32>
    %cst_127 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %381 = stablehlo.broadcast_in_dim %cst_127, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %382 = stablehlo.multiply %381, %380 : tensor<1024xf32>
    %383 = stablehlo.subtract %arg11, %382 : tensor<1024xf32>
    return %273, %283, %293, %303, %313, %323, %333, %343, %353, %363, %373, %383, %136, %141, %146, %151, %156, %161, %166, %171, %176, %181, %186, %191, %197, %203, %209, %215, %221, %227, %233, %239, %245, %251, %257, %263, %78 : tensor<8192x1024xf32>, tensor<1024x8192xf32>, tensor<8x4096x1024xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024xf32>, tensor<8x1024xf32>, tensor<8x8x128x1024xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>, tensor<1024xf32>, tensor<8192x1024xf32>, tensor<1024x8192xf32>, tensor<8x4096x1024xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024xf32>, tensor<8x1024xf32>, tensor<8x8x128x1024xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>, tensor<1024xf32>, tensor<8192x1024xf32>, tensor<1024x8192xf32>, tensor<8x4096x1024xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024xf32>, tensor<8x1024xf32>, tensor<8x8x128x1024xf32>, tensor<8x1024x8x128xf32>, tensor<8x1024x4096xf32>, tensor<8x1024x8x128xf32>, tensor<1024xf32>, tensor<f32>
  }
  func.func private @tril(%arg0: tensor<512x512xi1>) -> tensor<512x512xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<512x512xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<512x512xi32>
    %2 = stablehlo.add %0, %1 : tensor<512x512xi32>
    %3 = stablehlo.iota dim = 1 : tensor<512x512xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<512x512xi32>, tensor<512x512xi32>) -> tensor<512x512xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<512x512xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<512x512xi1>, tensor<512x512xi1>
    return %6 : tensor<512x512xi1>
  }
  func.func private @_where(%arg0: tensor<512x512xi1>, %arg1: tensor<f32>) -> (tensor<32x8x512x512xi1>, tensor<32x8x512x512xf32>) {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<512x512xi1>) -> tensor<32x8x512x512xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<32x8x512x512xf32>
    return %1, %2 : tensor<32x8x512x512xi1>, tensor<32x8x512x512xf32>
  }
  func.func private @silu() {
    return
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<8x4096x1024xf32>, %arg1: tensor<i32>) -> tensor<4096x1024xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 4096, 1024] : (tensor<8x4096x1024xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4096x1024xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x4096x1024xf32>) -> tensor<4096x1024xf32>
    return %1 : tensor<4096x1024xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<8x1024x4096xf32>, %arg1: tensor<i32>) -> tensor<1024x4096xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 1024, 4096] : (tensor<8x1024x4096xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1024x4096xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1024x4096xf32>) -> tensor<1024x4096xf32>
    return %1 : tensor<1024x4096xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<8x1024x8x128xf32>, %arg1: tensor<i32>) -> tensor<1024x8x128xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 1024, 8, 128] : (tensor<8x1024x8x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1024x8x128xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1024x8x128xf32>) -> tensor<1024x8x128xf32>
    return %1 : tensor<1024x8x128xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<8x1024xf32>, %arg1: tensor<i32>) -> tensor<1024xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 1024] : (tensor<8x1024xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1024xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1024xf32>) -> tensor<1024xf32>
    return %1 : tensor<1024xf32>
  }
  func.func private @dynamic_index_in_dim_3(%arg0: tensor<8x8x128x1024xf32>, %arg1: tensor<i32>) -> tensor<8x128x1024xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 8, 128, 1024] : (tensor<8x8x128x1024xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x128x1024xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x128x1024xf32>) -> tensor<8x128x1024xf32>
    return %1 : tensor<8x128x1024xf32>
  }
  func.func private @closed_call(%arg0: tensor<32x8x512x512xi1>, %arg1: tensor<32x8x512x512xf32>, %arg2: tensor<32x512x1024xbf16>, %arg3: tensor<4096x1024xf32>, %arg4: tensor<1024x4096xf32>, %arg5: tensor<1024x8x128xf32>, %arg6: tensor<1024xf32>, %arg7: tensor<1024xf32>, %arg8: tensor<8x128x1024xf32>, %arg9: tensor<1024x8x128xf32>, %arg10: tensor<1024x4096xf32>, %arg11: tensor<1024x8x128xf32>) -> (tensor<32x512x1024xbf16>, tensor<32x512x1024xbf16>) {
    %0 = stablehlo.convert %arg2 : (tensor<32x512x1024xbf16>) -> tensor<32x512x1024xf32>
    %1 = chlo.square %0 : tensor<32x512x1024xf32> -> tensor<32x512x1024xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<32x512x1024xf32>, tensor<f32>) -> tensor<32x512xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<32x512xf32>) -> tensor<32x512x1xf32>
    %cst_0 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x512x1xf32>
    %5 = stablehlo.divide %3, %4 : tensor<32x512x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32x512x1xf32>
    %7 = stablehlo.add %5, %6 : tensor<32x512x1xf32>
    %8 = stablehlo.rsqrt %7 : tensor<32x512x1xf32>
    %9 = stablehlo.convert %8 : (tensor<32x512x1xf32>) -> tensor<32x512x1xbf16>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<32x512x1xbf16>) -> tensor<32x512x1024xbf16>
    %11 = stablehlo.multiply %arg2, %10 : tensor<32x512x1024xbf16>
    %12 = stablehlo.convert %arg6 : (tensor<1024xf32>) -> tensor<1024xbf16>
    %13 = stablehlo.broadcast_in_dim %12, dims = [2] : (tensor<1024xbf16>) -> tensor<1x1x1024xbf16>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<1x1x1024xbf16>) -> tensor<32x512x1024xbf16>
    %15 = stablehlo.multiply %11, %14 : tensor<32x512x1024xbf16>
    %16 = stablehlo.convert %arg9 : (tensor<1024x8x128xf32>) -> tensor<1024x8x128xbf16>
    %17 = stablehlo.dot_general %15, %16, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x512x1024xbf16>, tensor<1024x8x128xbf16>) -> tensor<32x512x8x128xbf16>
    %18 = stablehlo.convert %arg5 : (tensor<1024x8x128xf32>) -> tensor<1024x8x128xbf16>
    %19 = stablehlo.dot_general %15, %18, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x512x1024xbf16>, tensor<1024x8x128xbf16>) -> tensor<32x512x8x128xbf16>
    %20 = stablehlo.convert %arg11 : (tensor<1024x8x128xf32>) -> tensor<1024x8x128xbf16>
    %21 = stablehlo.dot_general %15, %20, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x512x1024xbf16>, tensor<1024x8x128xbf16>) -> tensor<32x512x8x128xbf16>
    %22 = stablehlo.dot_general %17, %19, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<32x512x8x128xbf16>, tensor<32x512x8x128xbf16>) -> tensor<32x8x512x512xbf16>
    %23 = stablehlo.convert %22 : (tensor<32x8x512x512xbf16>) -> tensor<32x8x512x512xf32>
    %cst_2 = stablehlo.constant dense<0.0883883461> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32x8x512x512xf32>
    %25 = stablehlo.multiply %23, %24 : tensor<32x8x512x512xf32>
    %26 = call @_where_4(%25, %arg0, %arg1) : (tensor<32x8x512x512xf32>, tensor<32x8x512x512xi1>, tensor<32x8x512x512xf32>) -> tensor<32x8x512x512xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_3) applies stablehlo.maximum across dimensions = [3] : (tensor<32x8x512x512xf32>, tensor<f32>) -> tensor<32x8x512xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<32x8x512xf32>
    %29 = stablehlo.maximum %28, %27 : tensor<32x8x512xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<32x8x512xf32>) -> tensor<32x8x512x1xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3] : (tensor<32x8x512x1xf32>) -> tensor<32x8x512x512xf32>
    %32 = stablehlo.subtract %26, %31 : tensor<32x8x512x512xf32>
    %33 = stablehlo.exponential %32 : tensor<32x8x512x512xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%33 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<32x8x512x512xf32>, tensor<f32>) -> tensor<32x8x512xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2] : (tensor<32x8x512xf32>) -> tensor<32x8x512x1xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] : (tensor<32x8x512x1xf32>) -> tensor<32x8x512x512xf32>
    %37 = stablehlo.divide %33, %36 : tensor<32x8x512x512xf32>
    %38 = stablehlo.convert %37 : (tensor<32x8x512x512xf32>) -> tensor<32x8x512x512xbf16>
    %39 = stablehlo.dot_general %21, %38, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<32x512x8x128xbf16>, tensor<32x8x512x512xbf16>) -> tensor<32x8x128x512xbf16>
    %40 = stablehlo.transpose %39, dims = [0, 3, 1, 2] : (tensor<32x8x128x512xbf16>) -> tensor<32x512x8x128xbf16>
    %41 = stablehlo.convert %arg8 : (tensor<8x128x1024xf32>) -> tensor<8x128x1024xbf16>
    %42 = stablehlo.dot_general %40, %41, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x512x8x128xbf16>, tensor<8x128x1024xbf16>) -> tensor<32x512x1024xbf16>
    %43 = stablehlo.add %arg2, %42 : tensor<32x512x1024xbf16>
    %44 = stablehlo.convert %43 : (tensor<32x512x1024xbf16>) -> tensor<32x512x1024xf32>
    %45 = chlo.square %44 : tensor<32x512x1024xf32> -> tensor<32x512x1024xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_6) applies stablehlo.add across dimensions = [2] : (tensor<32x512x1024xf32>, tensor<f32>) -> tensor<32x512xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1] : (tensor<32x512xf32>) -> tensor<32x512x1xf32>
    %cst_7 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<32x512x1xf32>
    %49 = stablehlo.divide %47, %48 : tensor<32x512x1xf32>
    %cst_8 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<32x512x1xf32>
    %51 = stablehlo.add %49, %50 : tensor<32x512x1xf32>
    %52 = stablehlo.rsqrt %51 : tensor<32x512x1xf32>
    %53 = stablehlo.convert %52 : (tensor<32x512x1xf32>) -> tensor<32x512x1xbf16>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2] : (tensor<32x512x1xbf16>) -> tensor<32x512x1024xbf16>
    %55 = stablehlo.multiply %43, %54 : tensor<32x512x1024xbf16>
    %56 = stablehlo.convert %arg7 : (tensor<1024xf32>) -> tensor<1024xbf16>
    %57 = stablehlo.broadcast_in_dim %56, dims = [2] : (tensor<1024xbf16>) -> tensor<1x1x1024xbf16>
    %58 = stablehlo.broadcast_in_dim %57, dims = [0, 1, 2] : (tensor<1x1x1024xbf16>) -> tensor<32x512x1024xbf16>
    %59 = stablehlo.multiply %55, %58 : tensor<32x512x1024xbf16>
    %60 = stablehlo.convert %arg4 : (tensor<1024x4096xf32>) -> tensor<1024x4096xbf16>
    %61 = stablehlo.dot_general %59, %60, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x512x1024xbf16>, tensor<1024x4096xbf16>) -> tensor<32x512x4096xbf16>
    %62 = call @silu_5(%61) : (tensor<32x512x4096xbf16>) -> tensor<32x512x4096xbf16>
    %63 = stablehlo.convert %arg10 : (tensor<1024x4096xf32>) -> tensor<1024x4096xbf16>
    %64 = stablehlo.dot_general %59, %63, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x512x1024xbf16>, tensor<1024x4096xbf16>) -> tensor<32x512x4096xbf16>
    %65 = stablehlo.multiply %62, %64 : tensor<32x512x4096xbf16>
    %66 = stablehlo.convert %arg3 : (tensor<4096x1024xf32>) -> tensor<4096x1024xbf16>
    %67 = stablehlo.dot_general %65, %66, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x512x4096xbf16>, tensor<4096x1024xbf16>) -> tensor<32x512x1024xbf16>
    %68 = stablehlo.add %43, %67 : tensor<32x512x1024xbf16>
    return %68, %arg2 : tensor<32x512x1024xbf16>, tensor<32x512x1024xbf16>
  }
  func.func private @_where_4(%arg0: tensor<32x8x512x512xf32>, %arg1: tensor<32x8x512x512xi1>, %arg2: tensor<32x8x512x512xf32>) -> tensor<32x8x512x512xf32> {
    %0 = stablehlo.select %arg1, %arg0, %arg2 : tensor<32x8x512x512xi1>, tensor<32x8x512x512xf32>
    return %0 : tensor<32x8x512x512xf32>
  }
  func.func private @silu_5(%arg0: tensor<32x512x4096xbf16>) -> tensor<32x512x4096xbf16> {
    %0 = stablehlo.negate %arg0 : tensor<32x512x4096xbf16>
    %1 = stablehlo.exponential %0 : tensor<32x512x4096xbf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<32x512x4096xbf16>
    %3 = stablehlo.add %2, %1 : tensor<32x512x4096xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<32x512x4096xbf16>
    %5 = stablehlo.divide %4, %3 : tensor<32x512x4096xbf16>
    %6 = stablehlo.multiply %arg0, %5 : tensor<32x512x4096xbf16>
    return %6 : tensor<32x512x4096xbf16>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<8x32x512x1024xbf16>, %arg1: tensor<32x512x1024xbf16>, %arg2: tensor<i32>) -> tensor<8x32x512x1024xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<32x512x1024xbf16>) -> tensor<1x32x512x1024xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<8x32x512x1024xbf16>, tensor<1x32x512x1024xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x32x512x1024xbf16>
    return %1 : tensor<8x32x512x1024xbf16>
  }
  func.func private @_where_6(%arg0: tensor<32x512x8192xi1>, %arg1: tensor<32x512x8192xf32>, %arg2: tensor<i32>) -> (tensor<32x512x8192xf32>, tensor<32x512x8192xf32>) {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<32x512x8192xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<32x512x8192xi1>, tensor<32x512x8192xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x512x8192xf32>
    return %2, %3 : tensor<32x512x8192xf32>, tensor<32x512x8192xf32>
  }
  func.func private @_where_7(%arg0: tensor<32x512x8192xi1>, %arg1: tensor<32x512x8192xf32>, %arg2: tensor<32x512x8192xf32>) -> tensor<32x512x8192xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x512x8192xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<32x512x8192xi1>, tensor<32x512x8192xf32>
    return %1 : tensor<32x512x8192xf32>
  }
  func.func private @dynamic_index_in_dim_8(%arg0: tensor<8x32x512x1024xbf16>, %arg1: tensor<i32>) -> tensor<32x512x1024xbf16> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, sizes = [1, 32, 512, 1024] : (tensor<8x32x512x1024xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x512x1024xbf16>
    %1 = stablehlo.reshape %0 : (tensor<1x32x512x1024xbf16>) -> tensor<32x512x1024xbf16>
    return %1 : tensor<32x512x1024xbf16>
  }
  func.func private @closed_call_9(%arg0: tensor<32x512x1024xbf16>, %arg1: tensor<32x512x1024xbf16>, %arg2: tensor<4096x1024xf32>, %arg3: tensor<1024x4096xf32>, %arg4: tensor<1024x8x128xf32>, %arg5: tensor<1024xf32>, %arg6: tensor<1024xf32>, %arg7: tensor<8x128x1024xf32>, %arg8: tensor<1024x8x128xf32>, %arg9: tensor<1024x4096xf32>, %arg10: tensor<1024x8x128xf32>) -> (tensor<32x512x1024xbf16>, tensor<4096x1024xf32>, tensor<1024x4096xf32>, tensor<1024x8x128xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<8x128x1024xf32>, tensor<1024x8x128xf32>, tensor<1024x4096xf32>, tensor<1024x8x128xf32>) {
    %0:11 = stablehlo.optimization_barrier %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8, %arg9, %arg10, %arg0 : tensor<32x512x1024xbf16>, tensor<4096x1024xf32>, tensor<1024x4096xf32>, tensor<1024x8x128xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<8x128x1024xf32>, tensor<1024x8x128xf32>, tensor<1024x4096xf32>, tensor<1024x8x128xf32>, tensor<32x512x1024xbf16>
    %1 = stablehlo.convert %0#0 : (tensor<32x512x1024xbf16>) -> tensor<32x512x1024xf32>
    %2 = chlo.square %1 : tensor<32x512x1024xf32> -> tensor<32x512x1024xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x512x1024xf32>
    %4 = stablehlo.multiply %3, %1 : tensor<32x512x1024xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<32x512x1024xf32>, tensor<f32>) -> tensor<32x512xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<32x512xf32>) -> tensor<32x512x1xf32>
    %cst_1 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32x512x1xf32>
    %8 = stablehlo.divide %6, %7 : tensor<32x512x1xf32>
    %cst_2 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32x512x1xf32>
    %10 = stablehlo.add %8, %9 : tensor<32x512x1xf32>
    %11 = stablehlo.rsqrt %10 : tensor<32x512x1xf32>
    %12 = stablehlo.divide %11, %10 : tensor<32x512x1xf32>
    %cst_3 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<32x512x1xf32>
    %14 = stablehlo.multiply %13, %12 : tensor<32x512x1xf32>
    %15 = stablehlo.convert %11 : (tensor<32x512x1xf32>) -> tensor<32x512x1xbf16>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<32x512x1xbf16>) -> tensor<32x512x1024xbf16>
    %17 = stablehlo.multiply %0#0, %16 : tensor<32x512x1024xbf16>
    %18 = stablehlo.convert %0#4 : (tensor<1024xf32>) -> tensor<1024xbf16>
    %19 = stablehlo.broadcast_in_dim %18, dims = [2] : (tensor<1024xbf16>) -> tensor<1x1x1024xbf16>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<1x1x1024xbf16>) -> tensor<32x512x1024xbf16>
    %21 = stablehlo.multiply %17, %20 : tensor<32x512x1024xbf16>
    %22 = stablehlo.convert %0#7 : (tensor<1024x8x128xf32>) -> tensor<1024x8x128xbf16>
    %23 = stablehlo.dot_general %21, %22, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x512x1024xbf16>, tensor<1024x8x128xbf16>) -> tensor<32x512x8x128xbf16>
    %24 = stablehlo.convert %0#3 : (tensor<1024x8x128xf32>) -> tensor<1024x8x128xbf16>
    %25 = stablehlo.dot_general %21, %24, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x512x1024xbf16>, tensor<1024x8x128xbf16>) -> tensor<32x512x8x128xbf16>
    %26 = stablehlo.convert %0#9 : (tensor<1024x8x128xf32>) -> tensor<1024x8x128xbf16>
    %27 = stablehlo.dot_general %21, %26, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x512x1024xbf16>, tensor<1024x8x128xbf16>) -> tensor<32x512x8x128xbf16>
    %28 = stablehlo.dot_general %23, %25, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<32x512x8x128xbf16>, tensor<32x512x8x128xbf16>) -> tensor<32x8x512x512xbf16>
    %29 = stablehlo.convert %28 : (tensor<32x8x512x512xbf16>) -> tensor<32x8x512x512xf32>
    %cst_4 = stablehlo.constant dense<0.0883883461> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<32x8x512x512xf32>
    %31 = stablehlo.multiply %29, %30 : tensor<32x8x512x512xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %32 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<512x512xi1>
    %33 = call @tril_10(%32) : (tensor<512x512xi1>) -> tensor<512x512xi1>
    %cst_5 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %34:3 = call @_where_11(%33, %31, %cst_5) : (tensor<512x512xi1>, tensor<32x8x512x512xf32>, tensor<f32>) -> (tensor<32x8x512x512xf32>, tensor<32x8x512x512xi1>, tensor<32x8x512x512xf32>)
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %35 = stablehlo.reduce(%34#0 init: %cst_6) applies stablehlo.maximum across dimensions = [3] : (tensor<32x8x512x512xf32>, tensor<f32>) -> tensor<32x8x512xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<32x8x512xf32>
    %37 = stablehlo.maximum %36, %35 : tensor<32x8x512xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2] : (tensor<32x8x512xf32>) -> tensor<32x8x512x1xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2, 3] : (tensor<32x8x512x1xf32>) -> tensor<32x8x512x512xf32>
    %40 = stablehlo.subtract %34#0, %39 : tensor<32x8x512x512xf32>
    %41 = stablehlo.exponential %40 : tensor<32x8x512x512xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.reduce(%41 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<32x8x512x512xf32>, tensor<f32>) -> tensor<32x8x512xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2] : (tensor<32x8x512xf32>) -> tensor<32x8x512x1xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2, 3] : (tensor<32x8x512x1xf32>) -> tensor<32x8x512x512xf32>
    %45 = stablehlo.divide %41, %44 : tensor<32x8x512x512xf32>
    %46 = stablehlo.multiply %43, %43 : tensor<32x8x512x1xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<32x8x512x1xf32>
    %48 = stablehlo.divide %47, %46 : tensor<32x8x512x1xf32>
    %49 = stablehlo.convert %45 : (tensor<32x8x512x512xf32>) -> tensor<32x8x512x512xbf16>
    %50 = stablehlo.dot_general %27, %49, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<32x512x8x128xbf16>, tensor<32x8x512x512xbf16>) -> tensor<32x8x128x512xbf16>
    %51 = stablehlo.transpose %50, dims = [0, 3, 1, 2] : (tensor<32x8x128x512xbf16>) -> tensor<32x512x8x128xbf16>
    %52 = stablehlo.convert %0#6 : (tensor<8x128x1024xf32>) -> tensor<8x128x1024xbf16>
    %53 = stablehlo.dot_general %51, %52, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x512x8x128xbf16>, tensor<8x128x1024xbf16>) -> tensor<32x512x1024xbf16>
    %54 = stablehlo.add %0#0, %53 : tensor<32x512x1024xbf16>
    %55 = stablehlo.convert %54 : (tensor<32x512x1024xbf16>) -> tensor<32x512x1024xf32>
    %56 = chlo.square %55 : tensor<32x512x1024xf32> -> tensor<32x512x1024xf32>
    %cst_10 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<32x512x1024xf32>
    %58 = stablehlo.multiply %57, %55 : tensor<32x512x1024xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.reduce(%56 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<32x512x1024xf32>, tensor<f32>) -> tensor<32x512xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0, 1] : (tensor<32x512xf32>) -> tensor<32x512x1xf32>
    %cst_12 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<32x512x1xf32>
    %62 = stablehlo.divide %60, %61 : tensor<32x512x1xf32>
    %cst_13 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<32x512x1xf32>
    %64 = stablehlo.add %62, %63 : tensor<32x512x1xf32>
    %65 = stablehlo.rsqrt %64 : tensor<32x512x1xf32>
    %66 = stablehlo.divide %65, %64 : tensor<32x512x1xf32>
    %cst_14 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<32x512x1xf32>
    %68 = stablehlo.multiply %67, %66 : tensor<32x512x1xf32>
    %69 = stablehlo.convert %65 : (tensor<32x512x1xf32>) -> tensor<32x512x1xbf16>
    %70 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2] : (tensor<32x512x1xbf16>) -> tensor<32x512x1024xbf16>
    %71 = stablehlo.multiply %54, %70 : tensor<32x512x1024xbf16>
    %72 = stablehlo.convert %0#5 : (tensor<1024xf32>) -> tensor<1024xbf16>
    %73 = stablehlo.broadcast_in_dim %72, dims = [2] : (tensor<1024xbf16>) -> tensor<1x1x1024xbf16>
    %74 = stablehlo.broadcast_in_dim %73, dims = [0, 1, 2] : (tensor<1x1x1024xbf16>) -> tensor<32x512x1024xbf16>
    %75 = stablehlo.multiply %71, %74 : tensor<32x512x1024xbf16>
    %76 = stablehlo.convert %0#2 : (tensor<1024x4096xf32>) -> tensor<1024x4096xbf16>
    %77 = stablehlo.dot_general %75, %76, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x512x1024xbf16>, tensor<1024x4096xbf16>) -> tensor<32x512x4096xbf16>
    %78:3 = call @silu_12(%77) : (tensor<32x512x4096xbf16>) -> (tensor<32x512x4096xbf16>, tensor<32x512x4096xbf16>, tensor<32x512x4096xbf16>)
    %79 = stablehlo.convert %0#8 : (tensor<1024x4096xf32>) -> tensor<1024x4096xbf16>
    %80 = stablehlo.dot_general %75, %79, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x512x1024xbf16>, tensor<1024x4096xbf16>) -> tensor<32x512x4096xbf16>
    %81 = stablehlo.multiply %78#0, %80 : tensor<32x512x4096xbf16>
    %82 = stablehlo.convert %0#1 : (tensor<4096x1024xf32>) -> tensor<4096x1024xbf16>
    %83 = stablehlo.dot_general %0#10, %81, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x512x1024xbf16>, tensor<32x512x4096xbf16>) -> tensor<1024x4096xbf16>
    %84 = stablehlo.transpose %83, dims = [1, 0] : (tensor<1024x4096xbf16>) -> tensor<4096x1024xbf16>
    %85 = stablehlo.dot_general %0#10, %82, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x512x1024xbf16>, tensor<4096x1024xbf16>) -> tensor<32x512x4096xbf16>
    %86 = stablehlo.convert %84 : (tensor<4096x1024xbf16>) -> tensor<4096x1024xf32>
    %87 = stablehlo.multiply %78#0, %85 : tensor<32x512x4096xbf16>
    %88 = stablehlo.multiply %85, %80 : tensor<32x512x4096xbf16>
    %89 = stablehlo.dot_general %87, %75, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x512x4096xbf16>, tensor<32x512x1024xbf16>) -> tensor<4096x1024xbf16>
    %90 = stablehlo.transpose %89, dims = [1, 0] : (tensor<4096x1024xbf16>) -> tensor<1024x4096xbf16>
    %91 = stablehlo.dot_general %87, %79, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x512x4096xbf16>, tensor<1024x4096xbf16>) -> tensor<32x512x1024xbf16>
    %92 = stablehlo.convert %90 : (tensor<1024x4096xbf16>) -> tensor<1024x4096xf32>
    %93 = call @silu_13(%78#1, %77, %78#2, %88) : (tensor<32x512x4096xbf16>, tensor<32x512x4096xbf16>, tensor<32x512x4096xbf16>, tensor<32x512x4096xbf16>) -> tensor<32x512x4096xbf16>
    %94 = stablehlo.dot_general %93, %75, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x512x4096xbf16>, tensor<32x512x1024xbf16>) -> tensor<4096x1024xbf16>
    %95 = stablehlo.transpose %94, dims = [1, 0] : (tensor<4096x1024xbf16>) -> tensor<1024x4096xbf16>
    %96 = stablehlo.dot_general %93, %76, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x512x4096xbf16>, tensor<1024x4096xbf16>) -> tensor<32x512x1024xbf16>
    %97 = stablehlo.add %91, %96 : tensor<32x512x1024xbf16>
    %98 = stablehlo.convert %95 : (tensor<1024x4096xbf16>) -> tensor<1024x4096xf32>
    %99 = stablehlo.multiply %71, %97 : tensor<32x512x1024xbf16>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %100 = stablehlo.reduce(%99 init: %cst_15) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x512x1024xbf16>, tensor<bf16>) -> tensor<1024xbf16>
    %101 = stablehlo.reshape %100 : (tensor<1024xbf16>) -> tensor<1x1x1024xbf16>
    %102 = stablehlo.broadcast_in_dim %73, dims = [0, 1, 2] : (tensor<1x1x1024xbf16>) -> tensor<32x512x1024xbf16>
    %103 = stablehlo.multiply %97, %102 : tensor<32x512x1024xbf16>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %104 = stablehlo.reduce(%101 init: %cst_16) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x1024xbf16>, tensor<bf16>) -> tensor<1024xbf16>
    %105 = stablehlo.convert %104 : (tensor<1024xbf16>) -> tensor<1024xf32>
    %106 = stablehlo.multiply %54, %103 : tensor<32x512x1024xbf16>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %107 = stablehlo.reduce(%106 init: %cst_17) applies stablehlo.add across dimensions = [2] : (tensor<32x512x1024xbf16>, tensor<bf16>) -> tensor<32x512xbf16>
    %108 = stablehlo.reshape %107 : (tensor<32x512xbf16>) -> tensor<32x512x1xbf16>
    %109 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2] : (tensor<32x512x1xbf16>) -> tensor<32x512x1024xbf16>
    %110 = stablehlo.multiply %103, %109 : tensor<32x512x1024xbf16>
    %111 = stablehlo.add %0#10, %110 : tensor<32x512x1024xbf16>
    %112 = stablehlo.convert %108 : (tensor<32x512x1xbf16>) -> tensor<32x512x1xf32>
    %113 = stablehlo.multiply %112, %68 : tensor<32x512x1xf32>
    %cst_18 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<32x512x1xf32>
    %115 = stablehlo.divide %113, %114 : tensor<32x512x1xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %116 = stablehlo.reduce(%115 init: %cst_19) applies stablehlo.add across dimensions = [2] : (tensor<32x512x1xf32>, tensor<f32>) -> tensor<32x512xf32>
    %117 = stablehlo.broadcast_in_dim %116, dims = [0, 1] : (tensor<32x512xf32>) -> tensor<32x512x1024xf32>
    %118 = stablehlo.multiply %117, %58 : tensor<32x512x1024xf32>
    %119 = stablehlo.convert %118 : (tensor<32x512x1024xf32>) -> tensor<32x512x1024xbf16>
    %120 = stablehlo.add %111, %119 : tensor<32x512x1024xbf16>
    %121 = stablehlo.dot_general %120, %51, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x512x1024xbf16>, tensor<32x512x8x128xbf16>) -> tensor<1024x8x128xbf16>
    %122 = stablehlo.transpose %121, dims = [1, 2, 0] : (tensor<1024x8x128xbf16>) -> tensor<8x128x1024xbf16>
    %123 = stablehlo.dot_general %120, %52, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<32x512x1024xbf16>, tensor<8x128x1024xbf16>) -> tensor<32x512x8x128xbf16>
    %124 = stablehlo.convert %122 : (tensor<8x128x1024xbf16>) -> tensor<8x128x1024xf32>
    %125 = stablehlo.transpose %123, dims = [0, 2, 3, 1] : (tensor<32x512x8x128xbf16>) -> tensor<32x8x128x512xbf16>
    %126 = stablehlo.dot_general %125, %27, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<32x8x128x512xbf16>, tensor<32x512x8x128xbf16>) -> tensor<32x8x512x512xbf16>
    %127 = stablehlo.dot_general %125, %49, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<32x8x128x512xbf16>, tensor<32x8x512x512xbf16>) -> tensor<32x8x128x512xbf16>
    %128 = stablehlo.transpose %127, dims = [0, 3, 1, 2] : (tensor<32x8x128x512xbf16>) -> tensor<32x512x8x128xbf16>
    %129 = stablehlo.convert %126 : (tensor<32x8x512x512xbf16>) -> tensor<32x8x512x512xf32>
    %130 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2, 3] : (tensor<32x8x512x1xf32>) -> tensor<32x8x512x512xf32>
    %131 = stablehlo.multiply %129, %130 : tensor<32x8x512x512xf32>
    %132 = stablehlo.multiply %131, %41 : tensor<32x8x512x512xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %133 = stablehlo.reduce(%132 init: %cst_20) applies stablehlo.add across dimensions = [3] : (tensor<32x8x512x512xf32>, tensor<f32>) -> tensor<32x8x512xf32>
    %134 = stablehlo.reshape %133 : (tensor<32x8x512xf32>) -> tensor<32x8x512x1xf32>
    %135 = stablehlo.negate %134 : tensor<32x8x512x1xf32>
    %136 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2, 3] : (tensor<32x8x512x1xf32>) -> tensor<32x8x512x512xf32>
    %137 = stablehlo.divide %129, %136 : tensor<32x8x512x512xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %138 = stablehlo.reduce(%135 init: %cst_21) applies stablehlo.add across dimensions = [3] : (tensor<32x8x512x1xf32>, tensor<f32>) -> tensor<32x8x512xf32>
    %139 = stablehlo.broadcast_in_dim %138, dims = [0, 1, 2] : (tensor<32x8x512xf32>) -> tensor<32x8x512x512xf32>
    %140 = stablehlo.add %137, %139 : tensor<32x8x512x512xf32>
    %141 = stablehlo.multiply %140, %41 : tensor<32x8x512x512xf32>
    %142 = call @_where_14(%34#1, %34#2, %141) : (tensor<32x8x512x512xi1>, tensor<32x8x512x512xf32>, tensor<32x8x512x512xf32>) -> tensor<32x8x512x512xf32>
    %cst_22 = stablehlo.constant dense<0.0883883461> : tensor<f32>
    %143 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<32x8x512x512xf32>
    %144 = stablehlo.multiply %142, %143 : tensor<32x8x512x512xf32>
    %145 = stablehlo.convert %144 : (tensor<32x8x512x512xf32>) -> tensor<32x8x512x512xbf16>
    %146 = stablehlo.dot_general %145, %23, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x8x512x512xbf16>, tensor<32x512x8x128xbf16>) -> tensor<32x8x512x128xbf16>
    %147 = stablehlo.transpose %146, dims = [0, 2, 1, 3] : (tensor<32x8x512x128xbf16>) -> tensor<32x512x8x128xbf16>
    %148 = stablehlo.dot_general %145, %25, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x8x512x512xbf16>, tensor<32x512x8x128xbf16>) -> tensor<32x8x512x128xbf16>
    %149 = stablehlo.transpose %148, dims = [0, 2, 1, 3] : (tensor<32x8x512x128xbf16>) -> tensor<32x512x8x128xbf16>
    %150 = stablehlo.dot_general %128, %21, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x512x8x128xbf16>, tensor<32x512x1024xbf16>) -> tensor<8x128x1024xbf16>
    %151 = stablehlo.transpose %150, dims = [2, 0, 1] : (tensor<8x128x1024xbf16>) -> tensor<1024x8x128xbf16>
    %152 = stablehlo.dot_general %128, %26, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<32x512x8x128xbf16>, tensor<1024x8x128xbf16>) -> tensor<32x512x1024xbf16>
    %153 = stablehlo.convert %151 : (tensor<1024x8x128xbf16>) -> tensor<1024x8x128xf32>
    %154 = stablehlo.dot_general %147, %21, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x512x8x128xbf16>, tensor<32x512x1024xbf16>) -> tensor<8x128x1024xbf16>
    %155 = stablehlo.transpose %154, dims = [2, 0, 1] : (tensor<8x128x1024xbf16>) -> tensor<1024x8x128xbf16>
    %156 = stablehlo.dot_general %147, %24, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<32x512x8x128xbf16>, tensor<1024x8x128xbf16>) -> tensor<32x512x1024xbf16>
    %157 = stablehlo.add %152, %156 : tensor<32x512x1024xbf16>
    %158 = stablehlo.convert %155 : (tensor<1024x8x128xbf16>) -> tensor<1024x8x128xf32>
    %159 = stablehlo.dot_general %149, %21, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x512x8x128xbf16>, tensor<32x512x1024xbf16>) -> tensor<8x128x1024xbf16>
    %160 = stablehlo.transpose %159, dims = [2, 0, 1] : (tensor<8x128x1024xbf16>) -> tensor<1024x8x128xbf16>
    %161 = stablehlo.dot_general %149, %22, contracting_dims = [2, 3] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<32x512x8x128xbf16>, tensor<1024x8x128xbf16>) -> tensor<32x512x1024xbf16>
    %162 = stablehlo.add %157, %161 : tensor<32x512x1024xbf16>
    %163 = stablehlo.convert %160 : (tensor<1024x8x128xbf16>) -> tensor<1024x8x128xf32>
    %164 = stablehlo.multiply %17, %162 : tensor<32x512x1024xbf16>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %165 = stablehlo.reduce(%164 init: %cst_23) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x512x1024xbf16>, tensor<bf16>) -> tensor<1024xbf16>
    %166 = stablehlo.reshape %165 : (tensor<1024xbf16>) -> tensor<1x1x1024xbf16>
    %167 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<1x1x1024xbf16>) -> tensor<32x512x1024xbf16>
    %168 = stablehlo.multiply %162, %167 : tensor<32x512x1024xbf16>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %169 = stablehlo.reduce(%166 init: %cst_24) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x1024xbf16>, tensor<bf16>) -> tensor<1024xbf16>
    %170 = stablehlo.convert %169 : (tensor<1024xbf16>) -> tensor<1024xf32>
    %171 = stablehlo.multiply %0#0, %168 : tensor<32x512x1024xbf16>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %172 = stablehlo.reduce(%171 init: %cst_25) applies stablehlo.add across dimensions = [2] : (tensor<32x512x1024xbf16>, tensor<bf16>) -> tensor<32x512xbf16>
    %173 = stablehlo.reshape %172 : (tensor<32x512xbf16>) -> tensor<32x512x1xbf16>
    %174 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<32x512x1xbf16>) -> tensor<32x512x1024xbf16>
    %175 = stablehlo.multiply %168, %174 : tensor<32x512x1024xbf16>
    %176 = stablehlo.add %120, %175 : tensor<32x512x1024xbf16>
    %177 = stablehlo.convert %173 : (tensor<32x512x1xbf16>) -> tensor<32x512x1xf32>
    %178 = stablehlo.multiply %177, %14 : tensor<32x512x1xf32>
    %cst_26 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %179 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<32x512x1xf32>
    %180 = stablehlo.divide %178, %179 : tensor<32x512x1xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %181 = stablehlo.reduce(%180 init: %cst_27) applies stablehlo.add across dimensions = [2] : (tensor<32x512x1xf32>, tensor<f32>) -> tensor<32x512xf32>
    %182 = stablehlo.broadcast_in_dim %181, dims = [0, 1] : (tensor<32x512xf32>) -> tensor<32x512x1024xf32>
    %183 = stablehlo.multiply %182, %4 : tensor<32x512x1024xf32>
    %184 = stablehlo.convert %183 : (tensor<32x512x1024xf32>) -> tensor<32x512x1024xbf16>
    %185 = stablehlo.add %176, %184 : tensor<32x512x1024xbf16>
    return %185, %86, %98, %158, %170, %105, %124, %163, %92, %153 : tensor<32x512x1024xbf16>, tensor<4096x1024xf32>, tensor<1024x4096xf32>, tensor<1024x8x128xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<8x128x1024xf32>, tensor<1024x8x128xf32>, tensor<1024x4096xf32>, tensor<1024x8x128xf32>
  }
  func.func private @tril_10(%arg0: tensor<512x512xi1>) -> tensor<512x512xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<512x512xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<512x512xi32>
    %2 = stablehlo.add %0, %1 : tensor<512x512xi32>
    %3 = stablehlo.iota dim = 1 : tensor<512x512xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<512x512xi32>, tensor<512x512xi32>) -> tensor<512x512xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<512x512xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<512x512xi1>, tensor<512x512xi1>
    return %6 : tensor<512x512xi1>
  }
  func.func private @_where_11(%arg0: tensor<512x512xi1>, %arg1: tensor<32x8x512x512xf32>, %arg2: tensor<f32>) -> (tensor<32x8x512x512xf32>, tensor<32x8x512x512xi1>, tensor<32x8x512x512xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<512x512xi1>) -> tensor<32x8x512x512xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<32x8x512x512xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<32x8x512x512xi1>, tensor<32x8x512x512xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x8x512x512xf32>
    return %3, %1, %4 : tensor<32x8x512x512xf32>, tensor<32x8x512x512xi1>, tensor<32x8x512x512xf32>
  }
  func.func private @silu_12(%arg0: tensor<32x512x4096xbf16>) -> (tensor<32x512x4096xbf16>, tensor<32x512x4096xbf16>, tensor<32x512x4096xbf16>) {
    %0 = stablehlo.negate %arg0 : tensor<32x512x4096xbf16>
    %1 = stablehlo.exponential %0 : tensor<32x512x4096xbf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<32x512x4096xbf16>
    %3 = stablehlo.add %2, %1 : tensor<32x512x4096xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<32x512x4096xbf16>
    %5 = stablehlo.divide %4, %3 : tensor<32x512x4096xbf16>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<32x512x4096xbf16>
    %7 = stablehlo.subtract %6, %5 : tensor<32x512x4096xbf16>
    %8 = stablehlo.multiply %5, %7 : tensor<32x512x4096xbf16>
    %9 = stablehlo.multiply %arg0, %5 : tensor<32x512x4096xbf16>
    return %9, %5, %8 : tensor<32x512x4096xbf16>, tensor<32x512x4096xbf16>, tensor<32x512x4096xbf16>
  }
  func.func private @silu_13(%arg0: tensor<32x512x4096xbf16>, %arg1: tensor<32x512x4096xbf16>, %arg2: tensor<32x512x4096xbf16>, %arg3: tensor<32x512x4096xbf16>) -> tensor<32x512x4096xbf16> {
    %0 = stablehlo.multiply %arg1, %arg3 : tensor<32x512x4096xbf16>
    %1 = stablehlo.multiply %arg3, %arg0 : tensor<32x512x4096xbf16>
    %2 = stablehlo.multiply %0, %arg2 : tensor<32x512x4096xbf16>
    %3 = stablehlo.add %1, %2 : tensor<32x512x4096xbf16>
    return %3 : tensor<32x512x4096xbf16>
  }
  func.func private @_where_14(%arg0: tensor<32x8x512x512xi1>, %arg1: tensor<32x8x512x512xf32>, %arg2: tensor<32x8x512x512xf32>) -> tensor<32x8x512x512xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x8x512x512xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<32x8x512x512xi1>, tensor<32x8x512x512xf32>
    return %1 : tensor<32x8x512x512xf32>
  }
  func.func private @dynamic_update_index_in_dim_15(%arg0: tensor<8x4096x1024xf32>, %arg1: tensor<4096x1024xf32>, %arg2: tensor<i32>) -> tensor<8x4096x1024xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<4096x1024xf32>) -> tensor<1x4096x1024xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<8x4096x1024xf32>, tensor<1x4096x1024xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x4096x1024xf32>
    return %1 : tensor<8x4096x1024xf32>
  }
  func.func private @dynamic_update_index_in_dim_16(%arg0: tensor<8x1024x4096xf32>, %arg1: tensor<1024x4096xf32>, %arg2: tensor<i32>) -> tensor<8x1024x4096xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<1024x4096xf32>) -> tensor<1x1024x4096xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<8x1024x4096xf32>, tensor<1x1024x4096xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x1024x4096xf32>
    return %1 : tensor<8x1024x4096xf32>
  }
  func.func private @dynamic_update_index_in_dim_17(%arg0: tensor<8x1024x8x128xf32>, %arg1: tensor<1024x8x128xf32>, %arg2: tensor<i32>) -> tensor<8x1024x8x128xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<1024x8x128xf32>) -> tensor<1x1024x8x128xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<8x1024x8x128xf32>, tensor<1x1024x8x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x1024x8x128xf32>
    return %1 : tensor<8x1024x8x128xf32>
  }
  func.func private @dynamic_update_index_in_dim_18(%arg0: tensor<8x1024xf32>, %arg1: tensor<1024xf32>, %arg2: tensor<i32>) -> tensor<8x1024xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<1024xf32>) -> tensor<1x1024xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<8x1024xf32>, tensor<1x1024xf32>, tensor<i32>, tensor<i32>) -> tensor<8x1024xf32>
    return %1 : tensor<8x1024xf32>
  }
  func.func private @dynamic_update_index_in_dim_19(%arg0: tensor<8x8x128x1024xf32>, %arg1: tensor<8x128x1024xf32>, %arg2: tensor<i32>) -> tensor<8x8x128x1024xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3] : (tensor<8x128x1024xf32>) -> tensor<1x8x128x1024xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1 : (tensor<8x8x128x1024xf32>, tensor<1x8x128x1024xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x8x128x1024xf32>
    return %1 : tensor<8x8x128x1024xf32>
  }
}
